const NEGATION = '!';

type Matcher = (pattern: string) => boolean;

/**
 * True if an item is in a list of patterns, with `!` as the prefix of negation: a positive pattern matches, or the list has
 * only negated ones, and no negated pattern matches. The order has no meaning; an empty list contains nothing. `forbids`:
 * broader matcher for negated patterns.
 */
export function isInList(patterns: readonly string[], matches: Matcher, forbids: Matcher = matches): boolean {
  if (patterns.length === 0) return false;
  const positives = positivesIn(patterns);
  return (positives.length === 0 || positives.some(matches)) && !negationsIn(patterns).some(forbids);
}

/** The negated patterns of a list, without their `!`. */
export function negationsIn(patterns: readonly string[]): string[] {
  return patterns.filter(isNegated).map((pattern) => pattern.slice(NEGATION.length));
}

/** True if a list has no items outside the other list, evaluated by the texts of the patterns alone. */
export function isNarrowerList(list: readonly string[], other: readonly string[]): boolean {
  if (list.length === 0 || other.length === 0) return list.length === 0;
  const positives = positivesIn(list);
  const allowed = positivesIn(other);
  return (
    other.filter(isNegated).every((it) => list.includes(it)) &&
    (allowed.length === 0 || (positives.length > 0 && positives.every((it) => allowed.includes(it))))
  );
}

/** A list of what is in both, or less. `covers`: whether positive patterns mean everything that another one means. */
export function listOfBoth(
  some: readonly string[],
  others: readonly string[],
  covers: (positives: readonly string[], pattern: string) => boolean,
): string[] {
  if (some.length === 0 || others.length === 0) return [];
  const [ours, theirs] = [positivesIn(some), positivesIn(others)];
  const unbounded = ours.length === 0 || theirs.length === 0;
  const common = unbounded
    ? [...ours, ...theirs]
    : [...ours.filter((it) => covers(theirs, it)), ...theirs.filter((it) => covers(ours, it))];
  if (common.length === 0 && ours.length + theirs.length > 0) return [];
  return [...new Set([...common, ...[...some, ...others].filter(isNegated)])];
}

/** Union of lists; items negated in any of them are in none. */
export function listOfAny(lists: readonly (readonly string[])[]): string[] {
  const isUnbounded = lists.some((list) => list.length > 0 && positivesIn(list).length === 0);
  return [...new Set(lists.flat())].filter((pattern) => isNegated(pattern) || !isUnbounded);
}

function isNegated(pattern: string): boolean {
  return pattern.startsWith(NEGATION);
}

function positivesIn(patterns: readonly string[]): string[] {
  return patterns.filter((pattern) => !isNegated(pattern));
}
