import { styleText } from 'node:util';
import type { Writable } from 'node:stream';
import { safeText } from './safe-text.js';

type Style = Parameters<typeof styleText>[0];

export interface Stream extends Writable {
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/**
 * What the program says: data to stdout, everything about it to stderr. What others wrote is made harmless where a
 * terminal would act on it; into a pipe or a file it goes unchanged.
 */
export class Terminal {
  private status = '';

  constructor(
    private readonly stdout: Stream,
    private readonly stderr: Stream,
    private readonly env: NodeJS.ProcessEnv,
  ) {}

  /** Whether a person watches what is told on stderr. */
  get live(): boolean {
    return this.stderr.isTTY === true && this.env['TERM'] !== 'dumb' && !this.env['CI'];
  }

  get width(): number {
    return this.stdout.isTTY === true ? (this.stdout.columns ?? 80) : 160;
  }

  /** Data as it is; no line's end is added. */
  data(text: string): void {
    this.clearStatus();
    this.stdout.write(this.stdout.isTTY === true ? safeText(text) : text);
  }

  /** One line of our own making: parts from others must have gone through `oneLine`. */
  line(text = ''): void {
    this.clearStatus();
    this.stdout.write(`${text}\n`);
  }

  json(value: unknown): void {
    this.line(JSON.stringify(value));
  }

  /** About the work, for a person. */
  note(text: string): void {
    this.clearStatus();
    this.stderr.write(`${this.stderr.isTTY === true ? safeText(text) : text}\n`);
  }

  /** One line that the next one replaces; nothing without a terminal. */
  showStatus(text: string): void {
    if (!this.live) return;
    const width = (this.stderr.columns ?? 80) - 1;
    const line = Array.from(safeText(text).replaceAll('\n', ' ')).slice(0, width).join('');
    if (line === this.status) return;
    this.stderr.write(`\r\u001b[2K${this.stderrColour('dim', line)}`);
    this.status = line;
  }

  clearStatus(): void {
    if (this.status === '') return;
    this.stderr.write('\r\u001b[2K');
    this.status = '';
  }

  /** Styles for stdout, where colours are wanted. */
  colour(style: Style, text: string): string {
    return this.wantsColour(this.stdout) ? styleText(style, text) : text;
  }

  stderrColour(style: Style, text: string): string {
    return this.wantsColour(this.stderr) ? styleText(style, text) : text;
  }

  /** https://no-color.org */
  private wantsColour(stream: Stream): boolean {
    if (this.env['NO_COLOR']) return false;
    return stream.isTTY === true && this.env['TERM'] !== 'dumb';
  }
}
