import { ArchiveCorrupt } from '../archive-errors.js';
import type { Manifest } from './manifest.js';

/** Event of the log. */
export interface SealedEvent {
  readonly seq: number;
  /** Milliseconds since 1970, as in the envelope. */
  readonly time: number;
  /** The CloudEvents envelope. */
  readonly json: string;
}

/** Place of an event, which its envelope must contain, too. */
export interface EventPlace {
  readonly partition: string;
  readonly epoch: number;
}

const NEWLINE = 0x0a;

/**
 * Line of an event: the text of its envelope for readers. Members are not reordered, since the End of a call proves the texts of
 * its updates.
 *
 * @throws RangeError if the envelope is of another event
 */
export function toLine(event: SealedEvent, place: EventPlace): string {
  const { seq, time, json } = event;
  if (composedTime(seq, json, place) !== time) {
    const envelope: unknown = JSON.parse(json);
    const fault = placeFault(envelope, seq, place) ?? (timeOf(envelope) === time ? undefined : `has the time ${time}`);
    if (fault !== undefined) throw new RangeError(`Event ${seq} of partition ${place.partition} ${fault}: ${json.slice(0, 200)}`);
  }
  // Line breaks in JSON are white space: inside of strings they are escaped.
  return json.includes('\n') ? json.replaceAll('\n', ' ') : json;
}

const TIME = '","time":"';

/**
 * Time of an envelope that begins as the log composes it, with this id at its place; undefined for any other text. Saves most of the
 * time of a parse.
 */
function composedTime(seq: number, json: string, { partition, epoch }: EventPlace): number | undefined {
  const head = `{"specversion":"1.0","id":"${epoch}.${Number(partition)}.${seq}","type":"`;
  if (!json.startsWith(head)) return undefined;
  const at = json.indexOf(TIME, head.length) + TIME.length;
  const time = at > head.length ? Date.parse(json.slice(at, json.indexOf('"', at))) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}

/**
 * Parses the text of a segment.
 *
 * @throws ArchiveCorrupt for a line that does not match its place in the manifest
 */
export function parseLines(text: Buffer, manifest: Manifest): { events: SealedEvent[]; lines: Buffer[] } {
  const { name } = manifest.file;
  const lines = splitLines(text);
  const unended = lines.pop();
  if (unended !== undefined && unended.length > 0) throw new ArchiveCorrupt(name, 'has no end of line', lines.length + 1);
  const events = lines.map((line, index) => parseLine(line, index, manifest));
  if (events.length !== manifest.count) throw new ArchiveCorrupt(name, `has ${events.length} lines, its manifest says ${manifest.count}`);
  const { firstTime, lastTime } = manifest;
  if (events[0]?.time !== firstTime || events.at(-1)?.time !== lastTime)
    throw new ArchiveCorrupt(name, 'has other times than its manifest says');
  return { events, lines };
}

function parseLine(line: Buffer, index: number, manifest: Manifest): SealedEvent {
  const seq = manifest.fromSeq + index;
  const json = line.toString();
  const envelope = parseJson(json);
  if (envelope === undefined) {
    // Sealed without a parse: the rest of the segment stays readable.
    const time = composedTime(seq, json, manifest);
    if (time !== undefined) return { seq, time, json };
  }
  const fault = envelope === undefined ? 'is not JSON' : placeFault(envelope, seq, manifest);
  if (fault !== undefined) throw new ArchiveCorrupt(manifest.file.name, fault, index + 1);
  return { seq, time: timeOf(envelope), json };
}

function placeFault(envelope: unknown, seq: number, { partition, epoch }: EventPlace): string | undefined {
  const expected = `${epoch}.${Number(partition)}.${seq}`;
  const id = typeof envelope === 'object' && envelope !== null && 'id' in envelope ? envelope.id : undefined;
  if (id !== expected) return `is the event ${String(id)}, expected ${expected}`;
  return Number.isNaN(timeOf(envelope)) ? 'has no time' : undefined;
}

function timeOf(envelope: unknown): number {
  if (typeof envelope !== 'object' || envelope === null || !('time' in envelope)) return Number.NaN;
  return typeof envelope.time === 'string' ? Date.parse(envelope.time) : Number.NaN;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Lines of a text; the last one is the text after the last line feed. */
export function splitLines(text: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  let start = 0;
  for (let end = text.indexOf(NEWLINE); end >= 0; end = text.indexOf(NEWLINE, start)) {
    lines.push(text.subarray(start, end));
    start = end + 1;
  }
  lines.push(text.subarray(start));
  return lines;
}
