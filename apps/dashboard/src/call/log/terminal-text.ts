import { createLineParser, isPlain, textOf, type LineParser, type Span } from './ansi.js';

/** `allLines`: limit when a person requested the whole output. */
export const TERMINAL_LIMITS = { lines: 5000, allLines: 1_000_000, lineChars: 4000 } as const;

export type Line = readonly Span[];

/** Lines by index; empty for others. */
export interface Lines {
  readonly length: number;
  line(index: number): Line;
  /** Text of a line, without colours. */
  text(index: number): string;
  /** True if any part of the line is from standard error. */
  isStderr(index: number): boolean;
  /** End time of the line, in milliseconds since 1970; undefined if unknown. */
  time(index: number): number | undefined;
}

/**
 * The streamed text of one attempt. Keeps the last 5,000 lines, or as many as asked for, and 4,000 characters of each, to bound
 * memory. A line without colours is kept as a string and becomes spans when it is shown: a million of them fit.
 */
export class TerminalText implements Lines {
  private readonly parse: LineParser = createLineParser();
  private readonly whole: (Line | string)[] = [];
  private readonly times: (number | undefined)[] = [];
  private readonly errors: boolean[] = [];
  private restIsError = false;
  /** No colour of a line before continues. */
  private isReset = true;
  /** The text since the last line end; parsed again with every chunk, since it may end within an escape sequence. */
  private rest = '';
  private restAt: number | undefined;
  private droppedLines = 0;

  constructor(private readonly mostLines: number = TERMINAL_LIMITS.lines) {}

  append(text: string, at?: number, isStderr = false): void {
    const pieces = (this.rest + text).split('\n');
    this.rest = (pieces.pop() ?? '').slice(-TERMINAL_LIMITS.lineChars * 16);
    this.restAt = at;
    for (const [index, piece] of pieces.entries()) {
      this.whole.push(this.keep(piece));
      this.times.push(at);
      this.errors.push(isStderr || (index === 0 && this.restIsError));
    }
    this.restIsError = this.rest !== '' && (isStderr || (pieces.length === 0 && this.restIsError));
    const surplus = this.whole.length - this.mostLines;
    if (surplus <= 0) return;
    this.whole.splice(0, surplus);
    this.times.splice(0, surplus);
    this.errors.splice(0, surplus);
    this.droppedLines += surplus;
  }

  /** The number of dropped lines. */
  get dropped(): number {
    return this.droppedLines;
  }

  get length(): number {
    return this.whole.length + (this.rest === '' ? 0 : 1);
  }

  line(index: number): Line {
    const kept = index === this.whole.length ? cut(createLineParser()(this.rest)) : (this.whole[index] ?? []);
    return typeof kept === 'string' ? plainLine(kept) : kept;
  }

  text(index?: number): string {
    if (index === undefined) return Array.from({ length: this.length }, (_, each) => this.text(each)).join('\n');
    const kept = this.whole[index];
    return typeof kept === 'string' ? kept : textOf(this.line(index));
  }

  time(index: number): number | undefined {
    return index === this.whole.length ? this.restAt : this.times[index];
  }

  isStderr(index: number): boolean {
    return index === this.whole.length ? this.restIsError : this.errors[index] === true;
  }

  private keep(piece: string): Line | string {
    if (this.isReset && piece.length <= TERMINAL_LIMITS.lineChars && isPlain(piece)) return piece;
    const line = cut(this.parse(piece));
    this.isReset = Object.keys(this.parse(' ')[0]?.style ?? {}).length === 0;
    return line;
  }
}

export function linesOf(text: string): TerminalText {
  const terminal = new TerminalText(TERMINAL_LIMITS.allLines);
  terminal.append(text);
  return terminal;
}

function plainLine(text: string): Line {
  return text === '' ? [] : [{ text, style: {} }];
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
