import { loadSegment, type ArchiveStore, type Manifest } from '#archive';
import { z } from 'zod';
import type { ArchivedLog } from '../read/archived-log.js';
import type { ArchiveDays, SegmentFacts } from './retention-rule.js';

const Envelope = z.object({
  type: z.string(),
  subject: z.string(),
  tenantid: z.string().default(''),
  sessionid: z.string().optional(),
  agentid: z.string().optional(),
});
/** Pattern of a call's id; subjects of other events have a slash. */
const CALL_ID = /^\d{2,3}-[0-9A-Z]{26}$/;

/**
 * Reads the facts of a segment, including the end of each call that ends in another segment.
 *
 * @param daysOf also decides about holds
 * @param isReplaced true if a later generation replaces these events: open calls of this one do not matter
 */
export async function readFacts(
  store: ArchiveStore,
  archived: ArchivedLog,
  segment: Manifest,
  daysOf: ArchiveDays,
  isReplaced: boolean,
): Promise<SegmentFacts> {
  const { events } = await loadSegment(store, segment);
  const lastEnds = new Map<string, number>();
  const calls = new Map<string, string>();
  const ended = new Set<string>();
  let isHeld = false;
  for (const { json } of events) {
    const { type, subject, tenantid, sessionid: sessionId, agentid: agentId } = Envelope.parse(JSON.parse(json));
    lastEnds.set(tenantid, segment.lastTime);
    isHeld ||= daysOf(tenantid, { sessionId, agentId }) === undefined;
    if (CALL_ID.test(subject)) calls.set(subject, tenantid);
    if (type === 'call.end') ended.add(subject);
  }
  if (isReplaced) return { lastEnds, isHeld, hasOpen: false };
  for (const [callId, tenantId] of calls) {
    if (ended.has(callId)) continue;
    const found = await archived.archivedCall(callId);
    if (found === undefined) return { lastEnds, isHeld, hasOpen: true };
    lastEnds.set(tenantId, Math.max(lastEnds.get(tenantId) ?? 0, found.segment.lastTime));
  }
  return { lastEnds, isHeld, hasOpen: false };
}
