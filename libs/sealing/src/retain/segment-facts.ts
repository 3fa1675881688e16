import { loadSegment, type ArchiveStore, type Manifest } from '#archive';
import { z } from 'zod';
import type { ArchivedLog } from '../read/archived-log.js';
import type { SegmentFacts } from './retention-rule.js';

const Envelope = z.object({ type: z.string(), subject: z.string(), tenantid: z.string().default('') });
/** Subjects of events that are about no call have a slash. */
const CALL_ID = /^\d{2,3}-[0-9A-Z]{26}$/;

/**
 * Reads a segment, and for each call that does not end in it, in which segment it does.
 *
 * @param isReplaced a later generation replaces these events: calls of this one are not waited for
 */
export async function readFacts(store: ArchiveStore, archived: ArchivedLog, segment: Manifest, isReplaced: boolean): Promise<SegmentFacts> {
  const { events } = await loadSegment(store, segment);
  const lastEnds = new Map<string, number>();
  const calls = new Map<string, string>();
  const ended = new Set<string>();
  for (const { json } of events) {
    const { type, subject, tenantid } = Envelope.parse(JSON.parse(json));
    lastEnds.set(tenantid, segment.lastTime);
    if (CALL_ID.test(subject)) calls.set(subject, tenantid);
    if (type === 'call.end') ended.add(subject);
  }
  if (isReplaced) return { lastEnds, hasOpen: false };
  for (const [callId, tenantId] of calls) {
    if (ended.has(callId)) continue;
    const found = await archived.archivedCall(callId);
    if (found === undefined) return { lastEnds, hasOpen: true };
    lastEnds.set(tenantId, Math.max(lastEnds.get(tenantId) ?? 0, found.segment.lastTime));
  }
  return { lastEnds, hasOpen: false };
}
