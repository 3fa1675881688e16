import type { Content } from '#contracts';
import { cutUtf8, keepEnds } from './cut-text.js';

export interface LimitedOutput {
  readonly content: readonly Content[];
  /** The full text of the output; present if it was cut. */
  readonly whole?: { readonly text: string; readonly bytes: number };
}

export interface OutputCut {
  /** Size of the whole output, if the content is only a part of it. */
  readonly seenBytes?: number | undefined;
  /** Keeps beginning and end of each text. `readOn`: advice to the model how to continue from a byte of the whole. */
  readonly ends?: { readonly tailBytes: number; readonly readOn: (fromByte: number) => string } | undefined;
}

/**
 * Cuts the text that a model gets to `limitBytes` of UTF-8, at a character boundary, followed by `[output truncated — original
 * size: N bytes]`. All text items count together, JSON items by their JSON text and embedded resources by their text; images,
 * audio, links and binary resources stay as they are. Below the limit the same content is returned. With `ends`, texts are
 * parts of one text (`joinTexts`) and share the room; a part that does not fit has a notice of the omission between beginning
 * and end.
 */
export function limitOutput(content: readonly Content[], limitBytes: number, { seenBytes, ends }: OutputCut = {}): LimitedOutput {
  if (ends !== undefined && content.some(isText)) return limitParts(content, limitBytes, ends, seenBytes);
  const texts = content.map(modelText);
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  if (bytes <= limitBytes) return { content };
  const whole = { text: texts.join(''), bytes };

  const shortened: Content[] = [];
  let left = limitBytes;
  let cut = false;
  for (const [index, item] of content.entries()) {
    const text = texts[index] ?? '';
    const size = Buffer.byteLength(text);
    if (!isText(item)) shortened.push(item);
    else if (!cut && size <= left) {
      shortened.push(item);
      left -= size;
    } else if (!cut) {
      shortened.push(withText(item, `${cutUtf8(text, left)}${truncationNotice(seenBytes ?? bytes)}`));
      cut = true;
    }
  }
  return { content: shortened, whole };
}

/** Most parts with a notice of their own: more notices would exceed the shared room. */
const MOST_PARTS = 8;

/** Joins all text items into one, by line feeds. */
export function joinTexts(content: readonly Content[]): readonly Content[] {
  const texts = content.filter(isText);
  const [first] = texts;
  if (first === undefined || texts.length === 1) return content;
  const joined = withText(first, texts.map(modelText).join('\n'));
  return content.flatMap((item) => (item === first ? [joined] : isText(item) ? [] : [item]));
}

function limitParts(
  content: readonly Content[],
  limitBytes: number,
  ends: NonNullable<OutputCut['ends']>,
  seenBytes: number | undefined,
): LimitedOutput {
  const joined = joinTexts(content);
  const text = joined.filter(isText).map(modelText).join('');
  const bytes = Buffer.byteLength(text);
  if (bytes <= limitBytes) return { content: joined };
  const parts = content.filter(isText).map((item, index) => (index === 0 ? '' : '\n') + modelText(item));
  const originalBytes = Math.max(seenBytes ?? 0, bytes);
  const shortenedText =
    streamsWithoutMiddles(text, limitBytes, ends, originalBytes) ??
    withoutMiddles(parts.length > MOST_PARTS ? [text] : parts, limitBytes, ends, originalBytes);
  return { content: joined.map((item) => (isText(item) ? withText(item, shortenedText) : item)), whole: { text, bytes } };
}

/** Cuts the parts. Output that the tool did not return counts with the largest part. */
function withoutMiddles(
  parts: readonly string[],
  limitBytes: number,
  { tailBytes, readOn }: NonNullable<OutputCut['ends']>,
  originalBytes: number,
): string {
  const sizes = parts.map((part) => Buffer.byteLength(part));
  const lost = originalBytes - sizes.reduce((sum, size) => sum + size, 0);
  const rooms = shareRoom(sizes, limitBytes);
  const largest = sizes.indexOf(Math.max(...sizes));
  let from = 0;
  const shortenedParts = parts.map((part, index) => {
    const [size = 0, room = 0] = [sizes[index], rooms[index]];
    from += size;
    if (size <= room) return part;
    const { head, tail } = keepEnds(part, room, Math.floor((room * Math.min(tailBytes, limitBytes)) / limitBytes));
    const headBytes = Buffer.byteLength(head);
    const missing = size - headBytes - Buffer.byteLength(tail) + (index === largest ? lost : 0);
    return `${head}${omission(head, originalBytes, missing, readOn(from - size + headBytes))}${tail}`;
  });
  return shortenedParts.join('');
}

/** Line between beginning and end. */
function omission(head: string, originalBytes: number, missing: number, how: string): string {
  const facts = [truncationNotice(originalBytes).slice(1, -1), `${missing.toLocaleString('en-US')} left out here`, how];
  return `${head === '' || head.endsWith('\n') ? '' : '\n'}[${facts.join('; ')}]\n`;
}

/** Cuts both streams of a command that a dialect gives as one JSON object, which stays JSON; undefined for other texts. */
function streamsWithoutMiddles(
  text: string,
  limitBytes: number,
  { tailBytes, readOn }: NonNullable<OutputCut['ends']>,
  originalBytes: number,
): string | undefined {
  const read = streamsIn(text);
  if (read === undefined) return undefined;
  const { stdout, stderr } = read;
  const frameBytes = Buffer.byteLength(JSON.stringify({ ...read, stdout: '', stderr: '' }));
  // Output of a command that only looks like this: its other fields are not cut.
  if (frameBytes > limitBytes / 2) return undefined;
  const sizes = [stdout, stderr].map(jsonBytes);
  const rooms = shareRoom(sizes, Math.max(0, limitBytes - frameBytes));
  const [out, err] = [stdout, stderr].map((stream, index) => {
    const [size = 0, room = 0] = [sizes[index], rooms[index]];
    if (size <= room) return stream;
    // Escaped characters take more room: the cut is made shorter until its JSON fits.
    for (let bytes = Math.floor((Buffer.byteLength(stream) * room) / size); ; bytes = Math.floor(bytes * 0.8)) {
      const { head, tail } = keepEnds(stream, bytes, Math.floor((bytes * Math.min(tailBytes, limitBytes)) / limitBytes));
      if (bytes > 0 && jsonBytes(head) + jsonBytes(tail) > room) continue;
      const missing = Buffer.byteLength(stream) - Buffer.byteLength(head) - Buffer.byteLength(tail);
      return `${head}${omission(head, originalBytes, missing, readOn(0))}${tail}`;
    }
  });
  return JSON.stringify({ ...read, stdout: out, stderr: err });
}

interface CommandStreams {
  readonly stdout: string;
  readonly stderr: string;
}

function streamsIn(text: string): CommandStreams | undefined {
  if (!text.startsWith('{') || !text.includes('"stdout":"') || !text.includes('"stderr":"')) return undefined;
  try {
    const read: unknown = JSON.parse(text);
    // Dialects write it so; other output would be rewritten, with rounded numbers.
    return isStreams(read) && JSON.stringify(read) === text ? read : undefined;
  } catch {
    return undefined;
  }
}

const isStreams = (value: unknown): value is CommandStreams =>
  typeof value === 'object' &&
  value !== null &&
  'stdout' in value &&
  typeof value.stdout === 'string' &&
  'stderr' in value &&
  typeof value.stderr === 'string';

const jsonBytes = (text: string): number => Buffer.byteLength(JSON.stringify(text)) - 2;

/** Room for each part; the unused room of small parts goes to the others. */
function shareRoom(sizes: readonly number[], room: number): number[] {
  const rooms = sizes.map(() => 0);
  let left = room;
  const smallestFirst = sizes.map((_size, index) => index).toSorted((a, b) => (sizes[a] ?? 0) - (sizes[b] ?? 0));
  for (const [done, index] of smallestFirst.entries()) {
    rooms[index] = Math.min(sizes[index] ?? 0, Math.floor(left / (sizes.length - done)));
    left -= rooms[index] ?? 0;
  }
  return rooms;
}

/** `[output truncated — original size: 142,857 bytes]` */
export function truncationNotice(originalBytes: number): string {
  return `[output truncated — original size: ${originalBytes.toLocaleString('en-US')} bytes]`;
}

function isText(item: Content): boolean {
  return item.type === 'text' || item.type === 'json' || (item.type === 'resource' && 'text' in item.resource);
}

function withText(item: Content, text: string): Content {
  return item.type === 'resource' ? { ...item, resource: { ...item.resource, text } } : { type: 'text', text };
}

/** Text of an item for a model; empty for images, audio, links and binary resources. */
export function modelText(item: Content): string {
  switch (item.type) {
    case 'text':
      return item.text;
    case 'json':
      return JSON.stringify(item.json);
    case 'resource':
      return 'text' in item.resource ? item.resource.text : '';
    case 'image':
    case 'audio':
    case 'resource_link':
      return '';
    default:
      return item satisfies never;
  }
}
