import type { FileChange } from '#contracts';
import { diffLines, diffWordsWithSpace } from 'diff';

/** A part of a line; `changed` against the other side. */
export interface Span {
  readonly text: string;
  readonly changed: boolean;
}

export interface Side {
  /** Line number from 1; undefined if only a part of the text is known. */
  readonly number: number | undefined;
  readonly spans: readonly Span[];
}

/** A row of two columns. Without `before` a line was added, without `after` one was removed. */
export interface DiffRow {
  readonly kind: 'same' | 'changed';
  readonly before?: Side;
  readonly after?: Side;
}

/** Rows omitted between shown rows. */
export interface Fold {
  readonly kind: 'fold';
  readonly lines: number;
}

export interface TextDiff {
  readonly rows: readonly DiffRow[];
  readonly added: number;
  readonly removed: number;
}

const MOST_EDITS = 4000;
const WORD_CHARS = 2000;
const CONTEXT = 3;

/** Two texts line by line; words that differ within a changed line are marked. */
export function diffRows(before: string, after: string): TextDiff {
  const parts = diffLines(before, after, { maxEditLength: MOST_EDITS }) ?? [
    { value: before, removed: true, added: false },
    { value: after, added: true, removed: false },
  ];
  const paired = new PairedLines(1, 1);
  let [removed, added] = [0, 0];
  for (const part of parts) {
    const lines = linesOf(part.value);
    if (part.removed) removed += lines.length;
    if (part.added) added += lines.length;
    for (const line of lines) paired.add(part.removed ? '-' : part.added ? '+' : ' ', line);
  }
  return { rows: paired.rows(), added, removed };
}

/** A hunk of a unified diff with its own line numbers, and what is between hunks as folds. */
export function hunkRows(hunks: FileChange['hunks']): (DiffRow | Fold)[] {
  let next = 1;
  return hunks.flatMap(({ oldStart, oldLines, newStart, lines }) => {
    const hidden = oldStart - next;
    next = oldStart + oldLines;
    const paired = new PairedLines(oldStart, newStart);
    for (const line of lines) {
      const kind = line[0] ?? ' ';
      // `\ No newline at end of file` is no line of the file.
      if (kind === '-' || kind === '+' || kind === ' ') paired.add(kind, textOfLine(line));
    }
    return [...(hidden > 0 ? [{ kind: 'fold', lines: hidden } as const] : []), ...paired.rows()];
  });
}

/** The line of the file, before or after its change, at which a text begins, also within the line; undefined where no hunk has it. */
export function lineOfText(text: string, side: 'before' | 'after', hunks: FileChange['hunks']): number | undefined {
  if (text === '') return undefined;
  const wanted = text.split('\n');
  for (const { oldStart, newStart, lines } of hunks) {
    const own = lines.filter((line) => line.startsWith(' ') || line.startsWith(side === 'before' ? '-' : '+')).map(textOfLine);
    const at = own.findIndex((_, index) => standsAt(own, index, wanted));
    if (at >= 0) return (side === 'before' ? oldStart : newStart) + at;
  }
  return undefined;
}

/** The first wanted line may begin within a line of the file, and the last one end within it. */
function standsAt(lines: readonly string[], from: number, wanted: readonly string[]): boolean {
  if (wanted.length === 1) return lines[from]?.includes(wanted[0] ?? '') === true;
  return wanted.every((each, index) => {
    const line = lines[from + index];
    if (index === 0) return line?.endsWith(each) === true;
    return index === wanted.length - 1 ? each === '' || line?.startsWith(each) === true : line === each;
  });
}

function textOfLine(line: string): string {
  return line.slice(1).replace(/\r$/, '');
}

/** Lines of a diff in two columns: removed lines beside those that were added after them. */
class PairedLines {
  private readonly made: DiffRow[] = [];
  private gone: string[] = [];
  private come: string[] = [];

  constructor(
    private old: number,
    private now: number,
  ) {}

  add(kind: '-' | '+' | ' ', text: string): void {
    if (kind === '-') {
      if (this.come.length > 0) this.flush();
      this.gone.push(text);
    } else if (kind === '+') this.come.push(text);
    else {
      this.flush();
      const spans = [{ text, changed: false }];
      this.made.push({ kind: 'same', before: { number: this.old++, spans }, after: { number: this.now++, spans } });
    }
  }

  rows(): readonly DiffRow[] {
    this.flush();
    return this.made;
  }

  private flush(): void {
    for (let index = 0; index < Math.max(this.gone.length, this.come.length); index += 1) {
      const [left, right] = spansOf(this.gone[index], this.come[index]);
      this.made.push({
        kind: 'changed',
        ...(left === undefined ? {} : { before: { number: this.old++, spans: left } }),
        ...(right === undefined ? {} : { after: { number: this.now++, spans: right } }),
      });
    }
    this.gone = [];
    this.come = [];
  }
}

/** Long runs of equal lines are folded, all but `CONTEXT` lines beside a change. */
export function foldRows(rows: readonly DiffRow[]): (DiffRow | Fold)[] {
  const near = rows.map((_, index) => rows.slice(Math.max(0, index - CONTEXT), index + CONTEXT + 1).some(({ kind }) => kind === 'changed'));
  const shown: (DiffRow | Fold)[] = [];
  let hidden = 0;
  for (const [index, row] of rows.entries()) {
    if (near[index] !== true) {
      hidden += 1;
      continue;
    }
    if (hidden > 0) shown.push({ kind: 'fold', lines: hidden });
    hidden = 0;
    shown.push(row);
  }
  if (hidden > 0) shown.push({ kind: 'fold', lines: hidden });
  return shown;
}

function linesOf(text: string): string[] {
  if (text === '') return [];
  return (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n');
}

function spansOf(before: string | undefined, after: string | undefined): [Span[] | undefined, Span[] | undefined] {
  const whole = (text: string | undefined) => (text === undefined ? undefined : [{ text, changed: false }]);
  if (before === undefined || after === undefined || before.length + after.length > WORD_CHARS) return [whole(before), whole(after)];
  const words = diffWordsWithSpace(before, after);
  const side = (left: 'added' | 'removed', own: 'added' | 'removed') =>
    words.flatMap((word) => (word[left] ? [] : [{ text: word.value, changed: word[own] }]));
  return [side('added', 'removed'), side('removed', 'added')];
}
