/** Limits of one pattern and of one list of patterns. Lengths are in UTF-16 code units. */
export const PATTERN_LIMITS = {
  /** Characters of one glob or expression as written. */
  length: 4_096,
  /** Characters of an expression that is given to ripgrep. */
  queryLength: 10_000,
  /** Patterns of one list. */
  count: 500,
  /** Characters of one glob after its braces are written out. */
  expandedLength: 4_096,
  /** Characters of all globs of one list; globs without wildcards do not count. */
  listLength: 16_384,
  /** Instructions of one compiled expression. */
  programSize: 2_500,
  /** The same of all expressions of one list. */
  listProgramSize: 10_000,
  /** Characters of all expressions of one list as written. */
  listCharacters: 65_536,
  /** Unicode classes (`\p{…}`) of one expression, and of all of one list; each is compiled from hundreds of ranges. */
  unicodeClasses: 20,
  /** The same, and ranges that end above ASCII, where an expression ignores case: each character in them is folded, for 5 ms. */
  foldedRanges: 5,
  /**
   * Instructions of a list times characters of the matched texts; above it nothing is matched. Patterns of users must be cheap
   * in any form; those of the operator may be matched against longer texts.
   */
  userWork: 5_000_000,
  operatorWork: 100_000_000,
  /** Characters of globs times characters of the texts; a step of a glob is cheaper than one of an expression. */
  globWork: 50_000_000,
} as const;

/** Rejected pattern. `message` has the expected and the received form. */
export class PatternError extends Error {}

/** A refused pattern of a list. */
export interface PatternFault {
  readonly index: number;
  readonly message: string;
}
