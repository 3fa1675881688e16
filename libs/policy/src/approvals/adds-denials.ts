import type { PathDenials } from '#contracts';

type Writable = NonNullable<PathDenials['writable']>;

/**
 * True if `now` may deny a path that `before` allows. Undefined denies nothing. May be true for roots that only grew or changed
 * order, never false for an additional denial.
 */
export function addsDenials(before: PathDenials | undefined, now: PathDenials | undefined): boolean {
  if (now === undefined) return false;
  const known = new Set(before === undefined ? [] : entriesOf(before));
  if (entriesOf(now).some((entry) => !known.has(entry))) return true;
  if (now.writable !== undefined && !isAsWritable(now.writable, before?.writable)) return true;
  return now.roots.length > 0 && JSON.stringify(now.roots) !== JSON.stringify(before?.roots);
}

/** True if every path writable before is still writable. Without `before`, the whole workspace was writable. */
function isAsWritable(now: Writable, before: Writable | undefined): boolean {
  const listed = (list: keyof Writable): boolean => before?.[list].every((it) => now[list].includes(it)) === true;
  return listed('globs') && listed('paths');
}

/** Each glob, folder and name with the list that it is in. */
function entriesOf({ forbidden, denied, session, literal = { read: [], write: [] } }: PathDenials): string[] {
  const lists = { forbidden, denied, read: session.read, write: session.write, literalRead: literal.read, literalWrite: literal.write };
  return Object.entries(lists).flatMap(([list, paths]) => paths.map((path) => `${list}\0${path}`));
}
