import { CALL_EVENT_TYPES, dataSchemaOf, type CallEvent, type CallEventType } from '#contracts';
import { parseMeta } from '../call/call-meta.js';
import { parseTrustedJson } from '../call/trusted-json.js';
import { upcast } from '../call/upcasters.js';
import { toStoredSystemEvent } from './stored-system-event.js';
import type { CallMeta, StoredEvent } from '../event-log.port.js';

/** Entry in the form of XRANGE and XREAD: the id and the flat list of field names and values. */
export type StreamEntry = readonly [entryId: string, fields: readonly string[]];

/** Epoch of a partition whose `epoch` key was never written. */
export const FIRST_EPOCH = 1;

/**
 * Stored form of an event's type: the type alone is major version 1 of its schema, `call.start:2` would be major 2. Readers
 * skip unknown types.
 */
const KNOWN_TYPES: ReadonlyMap<string, { type: CallEventType; dataSchema: string; text: string; schema: string }> = new Map(
  CALL_EVENT_TYPES.map((type) => [
    type,
    {
      type,
      dataSchema: dataSchemaOf(type),
      text: `,"type":"${type}","subject":"`,
      schema: `","datacontenttype":"application/json","dataschema":"urn:tool-events:${type}:1","callver":`,
    },
  ]),
);

/**
 * Converts a stream entry into the event for readers. The envelope is composed by joining strings: only the call's fixed facts
 * are parsed, once for consecutive events of a call.
 *
 * Returns `undefined` for an unknown type; its sequence number still counts.
 */
export function toStoredEvent(partition: string, epoch: number, entryId: string, fields: readonly string[]): StoredEvent | undefined {
  const entry = readEntry(fields);
  const entryType = KNOWN_TYPES.get(entry.type);
  return entryType && new EntryEvent(partition, epoch, seqOf(entryId), entryType.type, entry, fields);
}

/**
 * Converts an entry for event streams, which include system events. Readers that fold calls use `toStoredEvent`: the subject of
 * a notice is no call's id.
 */
export function toTailedEvent(partition: string, epoch: number, entryId: string, fields: readonly string[]): StoredEvent | undefined {
  return toStoredEvent(partition, epoch, entryId, fields) ?? toStoredSystemEvent(partition, epoch, entryId, fields);
}

/** Approximate size of an envelope without the call's facts and the rest of the event; see `json`. */
const ENVELOPE_CHARS = 290;

/** Holds the entry as it was read and composes its envelope on demand: most events in memory are never sent. */
class EntryEvent implements StoredEvent {
  readonly callId: string;
  readonly time: number;
  readonly meta: CallMeta;
  readonly size: number;

  constructor(
    readonly partition: string,
    readonly epoch: number,
    readonly seq: number,
    readonly type: CallEventType,
    { callId, timeText, meta, rest }: EntryTexts,
    private readonly fields: readonly string[],
  ) {
    this.callId = callId;
    this.time = Number(timeText);
    this.meta = parseMeta(meta);
    this.size = ENVELOPE_CHARS + meta.length + rest.length;
  }

  get json(): string {
    const { version, attempt, fence, meta, rest } = readEntry(this.fields);
    const { text = '', schema = '' } = KNOWN_TYPES.get(this.type) ?? {};
    return (
      `{"specversion":"1.0","id":"${this.epoch}.${Number(this.partition)}.${this.seq}"` +
      `${text}${this.callId}","time":"${isoTime(this.time)}${schema}${version},"attempt":${attempt},"fence":${fence},${meta},${rest}}`
    );
  }
}

/**
 * Converts a stream entry into the event that its envelope would give, without composing and parsing that text. Returns
 * `undefined` for an unknown type.
 *
 * @throws SyntaxError for facts or data that are not JSON, RangeError for a time that is not one
 */
export function parseEntry(partition: string, epoch: number, entryId: string, fields: readonly string[]): CallEvent | undefined {
  const { callId, type, version, timeText, attempt, fence, meta, rest } = readEntry(fields);
  const known = KNOWN_TYPES.get(type);
  if (known === undefined) return undefined;
  const { tenantId, tool, agentId, sessionId, traceparent, parentCallId } = parseMeta(meta);
  const event = {
    specversion: '1.0',
    id: `${epoch}.${Number(partition)}.${seqOf(entryId)}`,
    type: known.type,
    subject: callId,
    time: isoTime(Number(timeText)),
    datacontenttype: 'application/json',
    dataschema: known.dataSchema,
    callver: Number(version),
    attempt: Number(attempt),
    fence: Number(fence),
    tenantid: tenantId,
    tool,
    agentid: agentId,
    sessionid: sessionId,
    traceparent,
    parentcallid: parentCallId,
    ...parseTrustedJson<Pick<CallEvent, 'source' | 'actor' | 'data'>>(`{${rest}}`),
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the log stores the data of an event with its type
  return upcast(event as CallEvent);
}

/** The parts of an entry, as text. */
interface EntryTexts {
  readonly callId: string;
  readonly type: string;
  readonly version: string;
  readonly timeText: string;
  readonly attempt: string;
  readonly fence: string;
  readonly meta: string;
  readonly rest: string;
}

/**
 * An entry has three fields, in this order (see apply-transitions.lua): `h` the words call id, type, version, time, attempt and
 * fence; `m` the call's fixed facts; `e` the rest of the envelope. Few fields are cheap to write and to read.
 */
export function readEntry(fields: readonly string[]): EntryTexts {
  const [, stamp = '', , meta = '', , rest = ''] = fields;
  const [callId = '', type = '', version = '', timeText = '', attempt = '', fence = ''] = stamp.split(' ');
  return { callId, type, version, timeText, attempt, fence, meta, rest };
}

/** Type of an entry, known or not. */
export function typeOf([, stamp = '']: readonly string[]): string {
  const start = stamp.indexOf(' ') + 1;
  return start === 0 ? '' : stamp.slice(start, stamp.indexOf(' ', start));
}

/** `<seq>-0` → seq. */
export function seqOf(entryId: string): number {
  const dash = entryId.indexOf('-');
  return Number(dash < 0 ? entryId : entryId.slice(0, dash));
}

let lastTime = 0;
let lastIso = new Date(0).toISOString();

/** Formats ms since the epoch as RFC 3339. Events come in the order of their times, so the last text serves most of them. */
export function isoTime(time: number): string {
  if (time !== lastTime) {
    lastIso = new Date(time).toISOString();
    lastTime = time;
  }
  return lastIso;
}

/** Distinguishes entries with the same sequence number by call, type, version, time, attempt and fence. */
export function fingerprintOf(fields: readonly string[]): string {
  return fields[1] ?? '';
}
