import { z } from 'zod';
import { metaText } from '../call/call-meta.js';
import type { ArchivedEvent } from './log-archive.port.js';
import type { StreamEntry } from '../stream/stored-event.js';
import { systemEventMetaText } from '../stream/stored-system-event.js';

/** Envelope of a call or of a notice. All other members are the rest of the event. */
const Envelope = z.looseObject({
  type: z.string(),
  subject: z.string(),
  time: z.iso.datetime({ offset: true }),
  tenantid: z.string().optional(),
  tool: z.string().optional(),
  agentid: z.string().optional(),
  sessionid: z.string().optional(),
  traceparent: z.string().optional(),
  parentcallid: z.string().optional(),
  callver: z.number().optional(),
  attempt: z.number().optional(),
  fence: z.number().optional(),
});

/** Members of an envelope that are composed on read. */
const COMPOSED = ['specversion', 'id', 'datacontenttype', 'dataschema'] as const;

/**
 * Converts an archived event back into its stream entry. Its id gets the current epoch, like that of every event of the log.
 *
 * @throws ZodError or SyntaxError for anything but an envelope of this log
 */
export function toEntry({ seq, json }: ArchivedEvent): StreamEntry {
  const { type, subject, time, tenantid, tool, agentid, sessionid, traceparent, parentcallid, callver, attempt, fence, ...more } =
    Envelope.parse(JSON.parse(json));
  const rest = Object.fromEntries(Object.entries(more).filter(([name]) => !(COMPOSED as readonly string[]).includes(name)));
  const text = JSON.stringify(rest).slice(1, -1);
  const at = Date.parse(time);
  if (tool === undefined || tenantid === undefined) {
    const meta = tenantid === undefined ? '' : systemEventMetaText(tenantid, sessionid);
    return [`${seq}-0`, ['h', `${subject} ${type} 1 ${at} 0 0`, 'm', meta, 'e', text]];
  }
  const meta = metaText({
    tenantId: tenantid,
    tool,
    ...(agentid === undefined ? {} : { agentId: agentid }),
    ...(sessionid === undefined ? {} : { sessionId: sessionid }),
    ...(traceparent === undefined ? {} : { traceparent }),
    ...(parentcallid === undefined ? {} : { parentCallId: parentcallid }),
  });
  return [`${seq}-0`, ['h', `${subject} ${type} ${callver ?? 0} ${at} ${attempt ?? 0} ${fence ?? 0}`, 'm', meta, 'e', text]];
}
