import { diffLines, diffWordsWithSpace } from 'diff';

/** A part of a line; `changed` against the other side. */
export interface Span {
  readonly text: string;
  readonly changed: boolean;
}

export interface Side {
  /** From 1. */
  readonly number: number;
  readonly spans: readonly Span[];
}

/** A row of two columns. Without `before` a line was added, without `after` one was removed. */
export interface DiffRow {
  readonly kind: 'same' | 'changed';
  readonly before?: Side;
  readonly after?: Side;
}

/** What was left out between shown rows. */
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
  const rows: DiffRow[] = [];
  let [old, now, removed, added] = [0, 0, 0, 0];
  let gone: string[] = [];
  const flush = (come: readonly string[]) => {
    for (let index = 0; index < Math.max(gone.length, come.length); index += 1) {
      const [left, right] = spansOf(gone[index], come[index]);
      rows.push({
        kind: 'changed',
        ...(left === undefined ? {} : { before: { number: (old += 1), spans: left } }),
        ...(right === undefined ? {} : { after: { number: (now += 1), spans: right } }),
      });
    }
    gone = [];
  };
  for (const part of parts) {
    const lines = linesOf(part.value);
    if (part.removed) {
      removed += lines.length;
      gone = gone.concat(lines);
    } else if (part.added) {
      added += lines.length;
      flush(lines);
    } else {
      flush([]);
      for (const text of lines) {
        const spans = [{ text, changed: false }];
        rows.push({ kind: 'same', before: { number: (old += 1), spans }, after: { number: (now += 1), spans } });
      }
    }
  }
  flush([]);
  return { rows, added, removed };
}

/** Long runs of equal lines are folded, all but `CONTEXT` lines beside a change. */
export function folded(rows: readonly DiffRow[]): (DiffRow | Fold)[] {
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
