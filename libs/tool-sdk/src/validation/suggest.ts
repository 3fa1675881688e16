import { distance } from 'fastest-levenshtein';

const LONGEST = 128;
/** A beginning of a name that has fewer letters is near to too much. */
const LETTERS_OF_BEGINNING = 5;
/** A whole name is nearer than the beginning of another. */
const BEGINNING_SCORE = 0.5;

/**
 * The names that `wanted` was probably meant to be, nearest first: few typing errors away, one name inside the other, or few
 * typing errors away from the words with which a name begins (`timeot` and `timeout_ms`).
 */
export function closestNames(wanted: string, names: Iterable<string>, limit: number): string[] {
  const folded = fold(wanted);
  const scored: { name: string; score: number }[] = [];
  for (const name of names) {
    const candidate = fold(name);
    const contained = folded.length >= 3 && candidate.length >= 3 && (candidate.includes(folded) || folded.includes(candidate));
    const typed = Math.min(
      typingErrors(folded, candidate),
      ...beginnings(name).map((words) => typingErrors(folded, words) + BEGINNING_SCORE),
    );
    const score = contained ? Math.abs(candidate.length - folded.length) / 4 : typed;
    if (contained || score <= Math.max(1, Math.floor(folded.length * 0.34))) scored.push({ name, score });
  }
  return scored
    .sort((a, b) => a.score - b.score || (a.name < b.name ? -1 : 1))
    .slice(0, limit)
    .map(({ name }) => name);
}

function typingErrors(wanted: string, candidate: string): number {
  return areSwapped(wanted, candidate) ? 1 : distance(wanted, candidate);
}

/** `timeout_after_ms` begins with `timeout` and `timeout_after`. */
function beginnings(name: string): string[] {
  return [...name.slice(0, LONGEST).matchAll(/(?<=[^-_.])[-_.]/g)]
    .map(({ index }) => fold(name.slice(0, index)))
    .filter((words) => words.length >= LETTERS_OF_BEGINNING);
}

/** Two letters in the wrong order are one typing error: `scr` and `src`. */
function areSwapped(a: string, b: string): boolean {
  if (a.length !== b.length || a === b) return false;
  let at = 0;
  while (a[at] === b[at]) at += 1;
  return a[at] === b[at + 1] && a[at + 1] === b[at] && a.slice(at + 2) === b.slice(at + 2);
}

/** `fsRead`, `fs-read` and `FS_READ` are the same guess. Long inputs are cut: the cost is the product of both lengths. */
function fold(name: string): string {
  return name.slice(0, LONGEST).toLowerCase().replaceAll(/[-_.]/g, '');
}
