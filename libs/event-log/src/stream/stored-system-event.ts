import { ADMIN_TYPES, dataSchemaOf, NOTICE_TYPES, type AdminType, type NoticeType } from '#contracts';
import { parseTrustedJson } from '../call/trusted-json.js';
import type { CallMeta, StoredEvent } from '../event-log.port.js';

/** The tenant of events that all tenants may see; no tenant has this name. */
export const ALL_TENANTS = '';

const TYPES = new Map<string, NoticeType | AdminType>([...NOTICE_TYPES, ...ADMIN_TYPES].map((type) => [type, type]));

/**
 * Converts an entry of `SystemEventLog` into the event for readers; undefined for any other. System events are few, so their
 * JSON is composed eagerly.
 */
export function toStoredSystemEvent(partition: string, epoch: number, entryId: string, fields: readonly string[]): StoredEvent | undefined {
  const [, stamp = '', , metaText = '', , rest = ''] = fields;
  const [subject = '', typeText = '', , timeText = ''] = stamp.split(' ');
  const type = TYPES.get(typeText);
  if (type === undefined) return undefined;
  const seq = Number.parseInt(entryId, 10);
  const time = Number(timeText);
  const json =
    `{"specversion":"1.0","id":"${epoch}.${Number(partition)}.${seq}","type":"${type}","subject":"${subject}",` +
    `"time":"${new Date(time).toISOString()}","datacontenttype":"application/json","dataschema":"${dataSchemaOf(type)}",` +
    `${metaText === '' ? '' : `${metaText},`}${rest}}`;
  return { partition, epoch, seq, callId: '', type, time, meta: metaOf(metaText), size: json.length, json };
}

/** Fixed facts of a system event as its entry contains them: JSON members without braces. */
export function systemEventMetaText(tenantId: string, sessionId?: string): string {
  return `"tenantid":${JSON.stringify(tenantId)}${sessionId === undefined ? '' : `,"sessionid":${JSON.stringify(sessionId)}`}`;
}

/** Subject of a system event. Its slash distinguishes it from the id of a call. */
export function subjectOf(type: NoticeType | AdminType, id: string): string {
  return `${type.slice(0, type.indexOf('.'))}/${id}`;
}

function metaOf(text: string): CallMeta {
  const { tenantid = ALL_TENANTS, sessionid } = parseTrustedJson<{ tenantid?: string; sessionid?: string }>(`{${text}}`);
  return { tenantId: tenantid, tool: '', ...(sessionid === undefined ? {} : { sessionId: sessionid }) };
}
