import { assignedSecret, bearerSecret, flagSecret, LOOK_BACK } from './assigned-secret.js';
import { candidateOffsets } from './candidate-offsets.js';
import { hasCode, runEnd, type CharSet } from './char-set.js';
import { randomToken, TOKEN_CHARS } from './random-token.js';
import { SecretNames } from './secret-names.js';
import { PrefixMatcher } from './prefix-matcher.js';
import { urlSecret } from './url-secret.js';
import { isPartial, type MatchResult, type PartialMatch, type SecretMatch } from './secret-match.js';

/** Characters of decided text required as context for the following text. */
export const CONTEXT = LOOK_BACK + 8;

/** The state of a scan; offsets are in the scanned text. */
export interface ScanState {
  /** The next character to look at. */
  readonly from: number;
  /** Start of undecided text; no secret begins before it. */
  readonly floor: number;
  /** Characters that continue a truncated secret. */
  readonly tail?: CharSet | undefined;
}

/**
 * Removed part of the text. `silent`: the rest of a secret whose mark is already written. `unsearched`: text after the most secrets
 * that are looked for.
 */
export interface Match {
  readonly start: number;
  readonly end: number;
  readonly silent?: true;
  readonly unsearched?: true;
}

export interface Scan {
  readonly matches: readonly Match[];
  /** Everything before it is decided. */
  readonly until: number;
  readonly state: ScanState;
}

export interface FinderSettings {
  /** Texts that are secret everywhere. */
  readonly values?: readonly string[];
  /** More endings of names of secrets. */
  readonly names?: readonly string[];
  /** Take long random-looking tokens for secrets, too. */
  readonly entropy?: boolean;
  /** Find nothing. */
  readonly off?: boolean;
}

const [EQUALS, COLON, DASH] = [61, 58, 45];
const BEARER = [66, 98];
const [ASSIGNS, STARTS, RANDOM] = [1, 2, 4];
const NO_MATCHES: readonly Match[] = [];
const NOWHERE = /(?!)/g;

/**
 * Finds secrets in one pass. A pattern finds the offsets where a secret may begin; only there the text is examined. The result at
 * an offset depends on a bounded part of the text around it, so a text in pieces gives the same matches as the whole text. Immutable but for a memory of names; share it.
 */
export class SecretFinder {
  readonly names: SecretNames;
  private readonly prefixes: PrefixMatcher;
  private readonly triggers = new Uint8Array(128);
  private readonly entropy: boolean;
  private readonly candidates: RegExp;

  constructor(private readonly settings: FinderSettings = {}) {
    this.names = new SecretNames(settings.names, settings.off);
    this.prefixes = new PrefixMatcher(settings.values ?? [], settings.off);
    this.entropy = settings.entropy ?? false;
    this.candidates = NOWHERE;
    if (settings.off === true) return;
    for (const code of [EQUALS, COLON, DASH, ...BEARER]) this.addTrigger(code, ASSIGNS);
    for (const { code } of this.prefixes.pairs) this.addTrigger(code, STARTS);
    if (this.entropy) for (let code = 0; code < 128; code++) if (hasCode(TOKEN_CHARS, code)) this.addTrigger(code, RANDOM);
    this.candidates = candidateOffsets({ names: this.names, pairs: this.prefixes.pairs, wide: this.prefixes.wide, entropy: this.entropy });
  }

  /** The same with more texts that are secret. */
  with(values: readonly string[]): SecretFinder {
    return values.length === 0 ? this : new SecretFinder({ ...this.settings, values: [...(this.settings.values ?? []), ...values] });
  }

  /** The same, for which nothing is secret only because it looks random. */
  withoutRandom(): SecretFinder {
    return this.entropy ? new SecretFinder({ ...this.settings, entropy: false }) : this;
  }

  /**
   * `final`: end of the text. Otherwise a possible beginning of a secret stays undecided. `most`: number of secrets that are looked
   * for; the rest of the text after them is removed.
   */
  scan(text: string, state: ScanState, final: boolean, most = Infinity): Scan {
    const known = text.length;
    const hits: Match[] = [];
    let { floor } = state;
    let at = state.from;
    if (state.tail !== undefined) {
      const end = runEnd(text, at, known, state.tail);
      if (end > at) hits.push({ start: at, end, silent: true });
      if (end === known && !final) return { matches: hits, until: known, state: { from: known, floor: known, tail: state.tail } };
      at = floor = Math.max(end, floor);
    }
    const { triggers } = this;
    for (at = this.nextCandidate(text, at, floor); at < known; at = this.nextCandidate(text, at, floor)) {
      const code = text.charCodeAt(at);
      const trigger = code < 128 ? (triggers[code] ?? 0) : STARTS;
      const verdict = this.matchAt(text, at, code, trigger, floor, final);
      if (verdict === undefined) at += 1;
      else if (isPartial(verdict)) return this.partialScan(text, hits, verdict.partialFrom, { from: at, floor });
      else {
        const secret = this.withKnown(text, verdict, final);
        if (isPartial(secret)) return this.partialScan(text, hits, secret.partialFrom, { from: at, floor });
        hits.push({ start: secret.start, end: secret.end });
        at = floor = secret.end;
        if (hits.length >= most && at < known)
          return { matches: [...hits, { start: at, end: known, unsearched: true }], until: known, state: { from: known, floor: known } };
        if (secret.tail !== undefined) {
          const rest = this.scan(text, { from: at, floor, tail: secret.tail }, final, most - hits.length);
          return { ...rest, matches: [...hits, ...rest.matches] };
        }
      }
    }
    const heldLength = final ? 0 : this.prefixes.heldAt(text, floor);
    return { matches: hits.length === 0 ? NO_MATCHES : hits, until: known - heldLength, state: { from: known, floor } };
  }

  /**
   * Next candidate at or after this position; the text's length if there is none. The start of a scan is always a candidate,
   * since the character before it is unknown.
   */
  private nextCandidate(text: string, at: number, floor: number): number {
    if (at === 0 || (this.entropy && at === floor)) return at;
    this.candidates.lastIndex = at;
    return this.candidates.test(text) ? this.candidates.lastIndex - 1 : text.length;
  }

  private matchAt(text: string, at: number, code: number, trigger: number, floor: number, final: boolean): MatchResult {
    if ((trigger & STARTS) !== 0) {
      for (const start of this.prefixes.at(text, at, code)) {
        const verdict = start.match(text, at, final);
        if (verdict !== undefined && (isPartial(verdict) ? verdict.partialFrom : verdict.start) >= floor) return verdict;
      }
    }
    if ((trigger & ASSIGNS) !== 0) {
      const verdict = this.matchAtOperator(text, at, code, final);
      if (verdict !== undefined) return verdict;
    }
    if ((trigger & RANDOM) !== 0 && (at === floor || !hasCode(TOKEN_CHARS, text.charCodeAt(at - 1)))) return randomToken(text, at, final);
    return undefined;
  }

  private matchAtOperator(text: string, at: number, code: number, final: boolean): MatchResult {
    switch (code) {
      case DASH:
        return flagSecret(text, at, final, this.names);
      case COLON:
        return urlSecret(text, at, final) ?? assignedSecret(text, at, final, this.names);
      case EQUALS:
        return assignedSecret(text, at, final, this.names);
      default:
        return bearerSecret(text, at, final);
    }
  }

  /** A known value that begins inside of a secret and reaches beyond it goes, too. */
  private withKnown(text: string, secret: SecretMatch, final: boolean): SecretMatch | PartialMatch {
    if (!this.prefixes.hasKnown || secret.tail !== undefined) return secret;
    let { end } = secret;
    for (let at = secret.start; at < end; at++) {
      for (const start of this.prefixes.at(text, at, text.charCodeAt(at))) {
        const verdict: MatchResult = start.known ? start.match(text, at, final) : undefined;
        if (verdict === undefined) continue;
        if (isPartial(verdict)) return { partialFrom: secret.start };
        end = Math.max(end, verdict.end);
      }
    }
    return { start: secret.start, end };
  }

  private partialScan(text: string, hits: readonly Match[], from: number, state: ScanState): Scan {
    const until = Math.min(from, text.length - this.prefixes.heldAt(text, state.floor));
    return { matches: hits, until: Math.max(until, state.floor), state };
  }

  private addTrigger(code: number, trigger: number): void {
    this.triggers[code] = (this.triggers[code] ?? 0) | trigger;
  }
}
