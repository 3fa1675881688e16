import { cellsOf, eraseGlyph, glyphsOf, widthOf } from './terminal-cells.js';
import { EFFECTS, NOT_PLAIN, onlyEffects, openEnd, withoutIgnored } from './terminal-sequences.js';

/** Lines that a program can still change; a terminal that tells no size is taken for one of so many. */
const ROWS = 24;
/** Rightmost column of a cursor beyond text. */
const COLUMNS = 500;
/** A longer line is not changed any more: each change costs as much as the line is long. */
const LINE_CHARS = 2_048;
/** Columns that a program may have looked at or changed, in all and for each character of its text: progress bars need one or two. */
const WORK = { inAll: 65_536, perCharacter: 16 };

/**
 * Text of a program as finally shown by a terminal: without text overwritten by a progress bar, colours and titles. A terminal
 * of 24 lines without a right border; text that leaves it at the top, or that is cleared as a screen, stays unchanged. Text
 * without control characters stays unchanged, also with CR LF. A program with more cursor movements than its text justifies
 * gets lines from then on: a return begins a new one, other movements are ignored.
 */
export class TerminalScreen {
  /** A row that was written over is an array with a string for each column; see `cellsOf`. */
  private rows: (string | string[])[] = [''];
  private row = 0;
  /** Undefined: behind the last character of the row. */
  private column: number | undefined;
  /** The last character was a return: with a line end it is that of Windows. */
  private hasReturned = false;
  /** The row continues a line that a cleared screen has left: one that the cursor is moved to is another line. */
  private hasTextBefore = false;
  private saved: readonly [row: number, column: number] = [0, 0];
  private held = '';
  private settled = '';
  private workLeft = WORK.inAll;
  private isLinesOnly = false;

  /** Takes the next piece, and gives out text that can no longer change. Pieces may end within a sequence. */
  push(piece: string): string {
    const text = this.held + withoutIgnored(piece);
    this.held = openEnd(text) || (text.endsWith('\r') && this.isLinesOnly ? '\r' : '');
    this.workLeft = Math.min(this.workLeft, WORK.inAll) + WORK.perCharacter * piece.length;
    const whole = onlyEffects(text.slice(0, text.length - this.held.length));
    if (this.isLinesOnly) this.settled += linesOf(whole);
    else this.write(whole);
    return this.taken();
  }

  /** The text on the screen. Half a sequence at the end is left out. */
  end(): string {
    this.held = '';
    this.settle();
    return this.taken();
  }

  private taken(): string {
    const { settled } = this;
    this.settled = '';
    return settled;
  }

  private write(text: string): void {
    if (this.column === undefined && this.row === this.rows.length - 1 && !NOT_PLAIN.test(text)) return this.append(text);
    let at = 0;
    for (const part of text.matchAll(EFFECTS)) {
      this.print(text.slice(at, part.index));
      at = part.index;
      if (this.workLeft < 0) return this.endAsLines(text.slice(at));
      at += part[0].length;
      this.apply(part);
    }
    this.print(text.slice(at));
  }

  private endAsLines(text: string): void {
    this.settle();
    this.isLinesOnly = true;
    this.settled += linesOf(text);
  }

  /** Plain text at the end; of many lines only the last ones become rows. */
  private append(text: string): void {
    let from = text.length;
    for (let n = 0; n < ROWS && from > 0; n += 1) from = text.lastIndexOf('\n', from - 1);
    if (from <= 0) return this.print(text);
    this.settle();
    this.settled += text.slice(0, from + 1);
    this.rows = text.slice(from + 1).split('\n');
    this.row = this.rows.length - 1;
    if (this.rows.some((row) => row.length > LINE_CHARS)) this.settle();
  }

  private print(text: string): void {
    for (const [index, line] of text.split('\n').entries()) {
      if (index > 0) this.feed();
      if (line === '') continue;
      this.hasReturned = this.hasTextBefore = false;
      this.printInRow(line);
    }
  }

  private printInRow(text: string): void {
    const row = this.rows[this.row] ?? '';
    if (this.column === undefined && typeof row === 'string') this.rows[this.row] = row + text;
    else this.overwrite(text);
    if ((this.rows[this.row]?.length ?? 0) > LINE_CHARS) this.settle();
  }

  private overwrite(text: string): void {
    const cells = this.cells();
    let column = this.column ?? cells.length;
    for (const glyph of glyphsOf(text)) {
      const end = column + widthOf(glyph, column);
      // A tab over text only moves the cursor.
      if (glyph !== '\t' || column >= cells.length) this.put(cells, glyph, column, end);
      column = end;
    }
    this.column = column === cells.length ? undefined : column;
  }

  private put(cells: string[], glyph: string, from: number, end: number): void {
    this.workLeft -= Math.max(0, end - cells.length);
    while (cells.length < end) cells.push(' ');
    for (let column = from; column < end; column += 1) eraseGlyph(cells, column);
    cells.fill('', from, end);
    cells[from] = glyph;
  }

  /** The row of the cursor, to be written over. */
  private cells(): string[] {
    while (this.rows.length <= this.row) this.rows.push('');
    const row = this.rows[this.row] ?? '';
    if (typeof row === 'string') this.workLeft -= row.length;
    const cells = typeof row === 'string' ? cellsOf(row.replace(/\r$/, '')) : row;
    this.rows[this.row] = cells;
    return cells;
  }

  private feed(): void {
    while (this.rows.length <= this.row) this.rows.push('');
    if (this.hasReturned) this.rows[this.row] = `${this.textOf(this.row).replace(/\r$/, '')}\r`;
    this.hasReturned = this.hasTextBefore = false;
    this.row += 1;
    this.column = (this.rows[this.row] ?? '') === '' ? undefined : 0;
    while (this.rows.length <= this.row) this.rows.push('');
    while (this.rows.length > ROWS) {
      this.settled += `${this.textOf(0)}\n`;
      this.rows.shift();
      this.row -= 1;
    }
  }

  private settle(): void {
    this.settled += this.rows.map((_, index) => this.textOf(index)).join('\n');
    this.rows = [''];
    this.row = 0;
    this.column = undefined;
  }

  private apply([sequence, parameters = '', final = '', escape = '']: RegExpMatchArray): void {
    // Private sequences, such as those of keyboards, move nothing.
    if (/[<=>?]/.test(parameters)) return;
    this.hasReturned = sequence === '\r';
    if (sequence === '\r') this.moveTo(this.row, 0);
    else if (sequence === '\b') this.move(0, -1);
    else if (escape === 'c') {
      this.clear();
      this.moveTo(0, 0);
    } else if (escape === '7' || final === 's') this.saved = [this.row, this.columnNow()];
    else if (escape === '8' || final === 'u') [this.row, this.column] = this.saved;
    else
      this.control(
        final,
        parameters.split(';').map((text) => Number(text) || 0),
      );
  }

  private control(final: string, [first = 0, second = 0]: readonly number[]): void {
    const by = Math.max(1, first);
    switch (final) {
      case 'A':
        return this.move(-by, 0);
      case 'B':
        return this.move(by, 0);
      case 'C':
        return this.move(0, by);
      case 'D':
        return this.move(0, -by);
      case 'E':
        return this.moveTo(this.row + by, 0);
      case 'F':
        return this.moveTo(this.row - by, 0);
      case 'G':
      case '`':
        return this.moveTo(this.row, by - 1);
      case 'H':
      case 'f':
        return this.moveTo(by - 1, Math.max(1, second) - 1);
      case 'd':
        return this.moveTo(by - 1, this.columnNow());
      case 'J':
        return this.eraseRows(first);
      case 'K':
        return this.eraseInRow(first);
      default:
        return undefined;
    }
  }

  private columnNow(): number {
    return this.column ?? this.cells().length;
  }

  private move(rows: number, columns: number): void {
    this.moveTo(this.row + rows, this.columnNow() + columns);
  }

  private moveTo(row: number, column: number): void {
    if (this.hasTextBefore) this.settled += '\n';
    this.hasTextBefore = false;
    this.row = Math.min(Math.max(0, row), ROWS - 1);
    this.column = Math.min(Math.max(0, column), Math.max(COLUMNS, this.rows[this.row]?.length ?? 0));
  }

  private eraseInRow(how: number): void {
    const cells = this.cells();
    this.workLeft -= cells.length;
    const column = this.column ?? cells.length;
    if (how !== 1 && column < cells.length) {
      eraseGlyph(cells, column);
      cells.length = column;
    }
    if (how > 0) {
      eraseGlyph(cells, column);
      cells.fill(' ', 0, column + 1);
    }
    if (how === 2) cells.length = 0;
    this.column = column;
  }

  private eraseRows(how: number): void {
    if (how > 1 || (how === 0 && this.row === 0 && this.column === 0)) return this.clear();
    this.eraseInRow(how);
    if (how === 0) this.rows.length = Math.min(this.rows.length, this.row + 1);
    else this.rows.fill('', 0, this.row);
  }

  /** Leaves the old screen above the new one, as terminals do that scroll it away. */
  private clear(): void {
    const isAtStart = this.textOf(this.rows.length - 1) === '';
    while (this.rows.length > 1 && this.textOf(this.rows.length - 1) === '') this.rows.pop();
    const isEmpty = this.rows.length === 1 && this.textOf(0) === '';
    this.settle();
    if (isAtStart && !isEmpty) this.settled += '\n';
    this.hasTextBefore = !isAtStart;
  }

  private textOf(index: number): string {
    const row = this.rows[index] ?? '';
    if (typeof row === 'string') return row;
    this.workLeft -= row.length;
    return row.join('');
  }
}

/** The text that a terminal shows in the end, of one that came as a whole. */
export function terminalText(text: string): string {
  const screen = new TerminalScreen();
  return screen.push(text) + screen.end();
}

/** A return that ends no line begins one. */
function linesOf(text: string): string {
  return text.replaceAll(/\r(?!\n)/g, '\n').replace(EFFECTS, (sequence) => (sequence === '\r' ? sequence : ''));
}
