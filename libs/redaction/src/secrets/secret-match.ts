import type { CharSet } from './char-set.js';

/** Replaces a secret. */
export const REDACTED = '[REDACTED]';

/** A longer run is a secret all the same; what follows of it is swallowed without being looked at again. */
export const LONGEST_RUN = 4_096;

/** From `start` to before `end` the text is secret. `tail`: it was cut at the longest run, and goes on while these characters come. */
export interface SecretMatch {
  readonly start: number;
  readonly end: number;
  readonly tail?: CharSet | undefined;
}

/** More text is needed to decide; nothing before `partialFrom` belongs to it. */
export interface PartialMatch {
  readonly partialFrom: number;
}

/** Undefined: there is no secret at this offset. */
export type MatchResult = SecretMatch | PartialMatch | undefined;

export function isPartial(verdict: SecretMatch | PartialMatch): verdict is PartialMatch {
  return 'partialFrom' in verdict;
}
