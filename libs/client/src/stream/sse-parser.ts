/** Message of an event stream, or a comment in it. */
export type SseItem =
  | { readonly kind: 'message'; readonly id: string; readonly event: string; readonly data: string }
  | { readonly kind: 'comment'; readonly text: string };

/**
 * Parses `text/event-stream` (WHATWG HTML, 9.2.6) from chunks cut anywhere.
 *
 * No `eventsource-parser`: its package exports TypeScript sources under the condition `source`, which Jest and tsc use here
 * for our own libraries and would then load from node_modules.
 */
export class SseParser {
  private rest = '';
  private id = '';
  private event = '';
  private data: string[] = [];

  /** Items that the chunk completes. */
  feed(chunk: string): SseItem[] {
    const text = this.rest + chunk;
    // A carriage return at the end may be the first half of CRLF.
    const lines = text.split(/\r\n|\n|\r(?!$)/);
    this.rest = lines.pop() ?? '';
    return lines.flatMap((line) => this.line(line) ?? []);
  }

  private line(line: string): SseItem | undefined {
    if (line === '') return this.dispatch();
    const [, field = line, value = ''] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
    if (line.startsWith(':')) return { kind: 'comment', text: value };
    if (field === 'id' && !value.includes('\0')) this.id = value;
    if (field === 'event') this.event = value;
    if (field === 'data') this.data.push(value);
    return undefined;
  }

  /** Completes a message. Without data it is not dispatched, but its id stays. */
  private dispatch(): SseItem | undefined {
    const { id, event, data } = this;
    this.event = '';
    this.data = [];
    return data.length === 0 ? undefined : { kind: 'message', id, event: event || 'message', data: data.join('\n') };
  }
}
