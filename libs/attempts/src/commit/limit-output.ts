import type { Content } from '#contracts';

export interface LimitedOutput {
  readonly content: readonly Content[];
  /** There when something was cut: all text of the output, as it was. */
  readonly whole?: { readonly text: string; readonly bytes: number };
}

/**
 * Cuts the text that a model gets to `limitBytes` of UTF-8, at a character boundary, followed by
 * `[output truncated — original size: N bytes]`. All text items count together, JSON items by their JSON text and
 * embedded resources by their text; images, audio, links and binary resources stay as they are. Below the limit the same
 * content is returned. `seenBytes`: the size of the whole output, where `content` is only its beginning.
 */
export function limitOutput(content: readonly Content[], limitBytes: number, seenBytes?: number): LimitedOutput {
  const texts = content.map(modelText);
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  if (bytes <= limitBytes) return { content };

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
  return { content: kept, whole: { text: texts.join(''), bytes } };
}

/** `[output truncated — original size: 142,857 bytes]` */
export function truncationNotice(originalBytes: number): string {
  return `[output truncated — original size: ${originalBytes.toLocaleString('en-US')} bytes]`;
}

/** The longest prefix of at most `limitBytes` bytes that splits no character. A lone surrogate counts as U+FFFD. */
export function cutUtf8(text: string, limitBytes: number): string {
  if (text.length * 3 <= limitBytes) return text;
  const bytes = Buffer.from(text.length > limitBytes ? text.slice(0, limitBytes + 1) : text);
  if (bytes.length <= limitBytes) return text;
  let end = limitBytes;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end);
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
