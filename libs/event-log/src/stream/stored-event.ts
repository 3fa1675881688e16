import { CALL_EVENT_TYPES, type CallEventType } from '#contracts';
import { parseMeta } from '../call/call-meta.js';
import { toStoredSystemEvent } from './stored-system-event.js';
import type { CallMeta, StoredEvent } from '../event-log.port.js';

/** One entry as XRANGE and XREAD answer it: the id and the flat list of field names and values. */
export type StreamEntry = readonly [entryId: string, fields: readonly string[]];

/** The epoch of a partition whose `epoch` key was never written. */
export const FIRST_EPOCH = 1;

/**
 * The stored form of an event's type: the type alone is major version 1 of its schema, `call.start:2` would be major 2.
 * A type this code does not know is skipped by readers.
 */
const KNOWN_TYPES: ReadonlyMap<string, { type: CallEventType; text: string; schema: string }> = new Map(
  CALL_EVENT_TYPES.map((type) => [
    type,
    {
      type,
      text: `,"type":"${type}","subject":"`,
      schema: `","datacontenttype":"application/json","dataschema":"urn:tool-events:${type}:1","callver":`,
    },
  ]),
);

/**
 * Makes the event that readers see out of a stream entry. The envelope is put together by joining strings: nothing is
 * parsed but the call's fixed facts, and these once for the events of a call that follow each other.
 *
 * Answers `undefined` for a type this version does not know; its sequence number still counts.
 */
export function toStoredEvent(partition: string, epoch: number, entryId: string, fields: readonly string[]): StoredEvent | undefined {
  const entry = readEntry(fields);
  const known = KNOWN_TYPES.get(entry.type);
  return known && new EntryEvent(partition, epoch, seqOf(entryId), known.type, entry, fields);
}

/**
 * The same for streams of events, which also have system events. Readers that fold calls use `toStoredEvent`:
 * the subject of a notice is no call's id.
 */
export function toTailedEvent(partition: string, epoch: number, entryId: string, fields: readonly string[]): StoredEvent | undefined {
  return toStoredEvent(partition, epoch, entryId, fields) ?? toStoredSystemEvent(partition, epoch, entryId, fields);
}

/** What the words of an envelope take besides the call's facts and the rest of the event; see `json`. */
const ENVELOPE_CHARS = 290;

/** Keeps the entry as it was read: many wait in memory for the few that are sent. */
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

/** `<seq>-0` → seq. */
export function seqOf(entryId: string): number {
  const dash = entryId.indexOf('-');
  return Number(dash < 0 ? entryId : entryId.slice(0, dash));
}

let lastTime = 0;
let lastIso = new Date(0).toISOString();

/** ms since the epoch as RFC 3339. Events come in the order of their times, so the one text made last serves most of them. */
export function isoTime(time: number): string {
  if (time !== lastTime) {
    lastIso = new Date(time).toISOString();
    lastTime = time;
  }
  return lastIso;
}

/** Tells entries with the same sequence number apart: by call, type, version, time, attempt and fence. */
export function fingerprintOf(fields: readonly string[]): string {
  return fields[1] ?? '';
}
