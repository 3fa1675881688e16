import type { Content } from '#contracts';
import { cutUtf8, keepEnds } from './cut-text.js';

export interface LimitedOutput {
  readonly content: readonly Content[];
  /** There when something was cut: all text of the output, as it was. */
  readonly whole?: { readonly text: string; readonly bytes: number };
}

export interface OutputCut {
  /** The size of the whole output, where the content is only a part of it. */
  readonly seenBytes?: number | undefined;
  /** Of a single text, beginning and end are kept. `readOn`: how the model reads on from a byte of the whole. */
  readonly ends?: { readonly tailBytes: number; readonly readOn: (fromByte: number) => string } | undefined;
}

/**
 * Cuts the text that a model gets to `limitBytes` of UTF-8, at a character boundary, followed by
 * `[output truncated — original size: N bytes]`. All text items count together, JSON items by their JSON text and
 * embedded resources by their text; images, audio, links and binary resources stay as they are. Below the limit the same
 * content is returned. With `ends`, a notice of what is left out stands between beginning and end.
 */
export function limitOutput(content: readonly Content[], limitBytes: number, { seenBytes, ends }: OutputCut = {}): LimitedOutput {
  const texts = content.map(modelText);
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  if (bytes <= limitBytes) return { content };
  const whole = { text: texts.join(''), bytes };
  if (ends !== undefined && content.filter(isText).length === 1) {
    const text = withoutMiddle(whole, limitBytes, ends, seenBytes ?? bytes);
    return { content: content.map((item) => (isText(item) ? withText(item, text) : item)), whole };
  }

  const kept: Content[] = [];
  let left = limitBytes;
  let cut = false;
  for (const [index, item] of content.entries()) {
    const text = texts[index] ?? '';
    const size = Buffer.byteLength(text);
    if (!isText(item)) kept.push(item);
    else if (!cut && size <= left) {
      kept.push(item);
      left -= size;
    } else if (!cut) {
      kept.push(withText(item, `${cutUtf8(text, left)}${truncationNotice(seenBytes ?? bytes)}`));
      cut = true;
    }
  }
  return { content: kept, whole };
}

function withoutMiddle(
  { text, bytes }: NonNullable<LimitedOutput['whole']>,
  limitBytes: number,
  { tailBytes, readOn }: NonNullable<OutputCut['ends']>,
  originalBytes: number,
): string {
  const { head, tail } = keepEnds(text, limitBytes, tailBytes);
  const headBytes = Buffer.byteLength(head);
  const missing = Math.max(originalBytes, bytes) - headBytes - Buffer.byteLength(tail);
  const facts = [truncationNotice(originalBytes).slice(1, -1), `${missing.toLocaleString('en-US')} left out here`, readOn(headBytes)];
  return `${head}${head === '' || head.endsWith('\n') ? '' : '\n'}[${facts.join('; ')}]\n${tail}`;
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

/** What of an item is text for a model; empty for images, audio, links and binary resources. */
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
