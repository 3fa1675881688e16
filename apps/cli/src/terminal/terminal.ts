import { styleText } from 'node:util';
import type { Writable } from 'node:stream';
import { safeText } from './safe-text.js';
import { hasHidden, hasLookAlikes, visible } from './visible-text.js';

type Style = Parameters<typeof styleText>[0];

export interface Stream extends Writable {
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/**
 * The output of the program: data to stdout, messages to stderr. Control characters of tools and users are removed on a
 * terminal; a pipe or a file receives the exact bytes.
 */
export class Terminal {
  /** True if truncated data is useless: a reader that closes the pipe is then a failure, too. */
  isWhole = false;
  private status = '';
  private readonly warnings = new Set<string>();

  constructor(
    private readonly stdout: Stream,
    private readonly stderr: Stream,
    private readonly env: NodeJS.ProcessEnv,
  ) {}

  /** True if stderr is an interactive terminal. */
  get live(): boolean {
    return this.stderr.isTTY === true && this.env['TERM'] !== 'dumb' && !this.env['CI'];
  }

  /** Columns of data. Terminals that do not know their size report 0. */
  get width(): number {
    return this.stdout.isTTY === true ? this.stdout.columns || 80 : 160;
  }

  /** Columns of messages. */
  get errorWidth(): number {
    return this.stderr.isTTY === true ? this.stderr.columns || 80 : 160;
  }

  /** True if a person reads the data: ids are then short. */
  get isRead(): boolean {
    return this.stdout.isTTY === true;
  }

  /** `visible`, with one note on hidden characters and on names that may imitate others. */
  visible(text: string, writtenOut = false): string {
    if (hasHidden(text, writtenOut)) this.warn('hidden characters are written out, as <U+202E>. They run as they are.');
    if (hasLookAlikes(text)) this.warn('a name that has <Latin and Cyrillic> or <punycode> behind it may not be what it looks like.');
    return visible(text, writtenOut);
  }

  private warn(what: string): void {
    if (this.warnings.has(what)) return;
    this.warnings.add(what);
    this.note(`Warning: ${what}`, 'yellow');
  }

  /** Writes data without adding a line end. */
  data(text: string): void {
    this.clearStatus();
    this.stdout.write(this.stdout.isTTY === true ? safeText(text) : text);
  }

  /** Writes one line. Text of tools and users in it must have passed `oneLine`. */
  line(text = ''): void {
    this.clearStatus();
    this.stdout.write(`${text}\n`);
  }

  json(value: unknown): void {
    this.line(JSON.stringify(value));
  }

  /** Writes a message to stderr. */
  note(text: string, style?: Style): void {
    const safe = this.stderr.isTTY === true ? safeText(text) : text;
    this.noteLine(style === undefined ? safe : this.stderrColour(style, safe));
  }

  /** Writes a line with colours to stderr. Text of tools and users in it must have passed `oneLine` or `visible`. */
  noteLine(text: string): void {
    this.clearStatus();
    this.stderr.write(`${text}\n`);
  }

  /** A status line that the next one replaces; nothing without a terminal. */
  showStatus(text: string): void {
    if (!this.live) return;
    const width = (this.stderr.columns || 80) - 1;
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

  /** Styles text for stdout, if colours are enabled. */
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
