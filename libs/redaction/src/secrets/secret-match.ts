import type { CharSet } from './char-set.js';

/** Replaces a secret. */
export const REDACTED = '[REDACTED]';

/** Longest run that is scanned. The rest of a longer one belongs to the secret and is removed without a scan. */
export const LONGEST_RUN = 4_096;

/** Secret from `start` to before `end`. `tail`: characters that continue a secret cut at the longest run. */
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
