import type { Content } from '#contracts';

/** Buffer of partial content, limited to the size of one event. */
export class ContentBuffer {
  private items: Content[] = [];
  private bytes = 2;
  private truncated = false;
  private stderr: number[] = [];

  /** `limitBytes`: limit of the JSON text of the whole list. */
  constructor(private readonly limitBytes: number) {}

  get empty(): boolean {
    return this.items.length === 0 && !this.truncated;
  }

  /**
   * Appends content; consecutive text of the same stream becomes one item. Content beyond the limit is dropped until the next
   * flush.
   */
  append(content: readonly Content[], isStderr = false): void {
    for (const item of content) {
      if (this.truncated) return;
      if (item.type === 'text' && item.annotations === undefined) this.appendText(item.text, isStderr);
      else this.appendItem(item);
    }
  }

  /** Empties the buffer. Returns its content, the indexes of standard error in it, and a flag for dropped content. */
  flush(): { readonly content: readonly Content[]; readonly stderr: readonly number[]; readonly truncated: boolean } {
    const contents = { content: this.items, stderr: this.stderr, truncated: this.truncated };
    this.items = [];
    this.stderr = [];
    this.bytes = 2;
    this.truncated = false;
    return contents;
  }

  private appendText(text: string, isStderr: boolean): void {
    if (text === '') return;
    const last = this.items.at(-1);
    const isSame = (this.stderr.at(-1) === this.items.length - 1) === isStderr;
    const joined = isSame && last?.type === 'text' && last.annotations === undefined ? last : undefined;
    const itemBytes = joined ? 0 : TEXT_ITEM_BYTES + (isStderr ? MARK_BYTES : 0);
    const room = this.limitBytes - this.bytes - itemBytes;
    const fitting = jsonPrefix(text, room);
    if (fitting.text !== '') {
      if (joined) this.items[this.items.length - 1] = { type: 'text', text: joined.text + fitting.text };
      else {
        if (isStderr) this.stderr.push(this.items.length);
        this.items.push({ type: 'text', text: fitting.text });
      }
      this.bytes += fitting.bytes + itemBytes;
    }
    if (fitting.text.length < text.length) this.truncated = true;
  }

  private appendItem(item: Content): void {
    const bytes = Buffer.byteLength(JSON.stringify(item)) + 1;
    if (this.bytes + bytes > this.limitBytes) this.truncated = true;
    else {
      this.items.push(item);
      this.bytes += bytes;
    }
  }
}

/** `{"type":"text","text":""},` */
const TEXT_ITEM_BYTES = 26;
/** `299,`: index of an item in `stderr`. */
const MARK_BYTES = 4;

/** Longest prefix whose JSON text, without quotes, is at most `limitBytes` of UTF-8. Reads no further. */
function jsonPrefix(text: string, limitBytes: number): { text: string; bytes: number } {
  let bytes = 0;
  let end = 0;
  while (end < text.length) {
    const code = text.codePointAt(end) ?? 0;
    const cost = jsonBytes(code);
    if (bytes + cost > limitBytes) break;
    bytes += cost;
    end += code > 0xffff ? 2 : 1;
  }
  return { text: end === text.length ? text : text.slice(0, end), bytes };
}

function jsonBytes(code: number): number {
  if (code === 0x22 || code === 0x5c) return 2;
  if (code < 0x20) return code === 0x08 || code === 0x09 || code === 0x0a || code === 0x0c || code === 0x0d ? 2 : 6;
  if (code < 0x80) return 1;
  if (code < 0x800) return 2;
  if (code >= 0xd800 && code <= 0xdfff) return 6;
  return code > 0xffff ? 4 : 3;
}
