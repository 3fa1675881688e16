import { createLineParser, textOf, type LineParser, type Span } from './ansi.js';

export const TERMINAL_LIMITS = { lines: 5000, lineChars: 4000 } as const;

export type Line = readonly Span[];

/**
 * The streamed text of one attempt. Keeps the last 5,000 lines, and 4,000 characters of each, to bound memory. The gateway has the
 * complete output.
 */
export class TerminalText {
  private readonly parse: LineParser = createLineParser();
  private readonly whole: Line[] = [];
  /** The text since the last line end; parsed again with every chunk, since it may end within an escape sequence. */
  private rest = '';
  private droppedLines = 0;

  append(text: string): void {
    const pieces = (this.rest + text).split('\n');
    this.rest = (pieces.pop() ?? '').slice(-TERMINAL_LIMITS.lineChars * 16);
    for (const piece of pieces) this.whole.push(cut(this.parse(piece)));
    const surplus = this.whole.length - TERMINAL_LIMITS.lines;
    if (surplus <= 0) return;
    this.whole.splice(0, surplus);
    this.droppedLines += surplus;
  }

  /** The number of dropped lines. */
  get dropped(): number {
    return this.droppedLines;
  }

  lines(): Line[] {
    return this.rest === '' ? [...this.whole] : [...this.whole, cut(createLineParser()(this.rest))];
  }

  text(): string {
    return this.lines().map(textOf).join('\n');
  }
}

export function linesOf(text: string): Line[] {
  const terminal = new TerminalText();
  terminal.append(text);
  return terminal.lines();
}

function cut(line: Line): Line {
  let room: number = TERMINAL_LIMITS.lineChars;
  const kept: Span[] = [];
  for (const span of line) {
    if (room <= 0) break;
    kept.push(span.text.length <= room ? span : { ...span, text: span.text.slice(0, room) });
    room -= span.text.length;
  }
  return room < 0 ? [...kept, { text: ` … ${-room} more characters`, style: { italic: true, dim: true } }] : kept;
}
