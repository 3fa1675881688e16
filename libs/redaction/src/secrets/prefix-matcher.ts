import type { Pair } from './candidate-offsets.js';
import { hasCode, runEnd, WORD, type CharSet } from './char-set.js';
import { KnownValues } from './known-values.js';
import { KEY_BEGIN, privateKey } from './private-key.js';
import { TOKEN_SHAPES, type TokenShape } from './token-shapes.js';
import { LONGEST_RUN, type MatchResult } from './secret-match.js';

/** Kind of secret that begins with one of these texts. Checked at the position of its trigger, one character of them. */
export interface Prefix {
  readonly texts: readonly string[];
  /** Offset of the trigger in each text. The trigger and the character before it are the same in all of them. */
  readonly offset: number;
  /** The texts are secret themselves. */
  readonly known: boolean;
  match(text: string, trigger: number, final: boolean): MatchResult;
}

/** Characters by how rare they are in texts: the best triggers first. */
const RARE = [/[_\-$%^&*+~@#!?<>|[\]{}\\/]/, /[.]/, /[A-Z]/, /\d/];
const DEEPEST_TRIGGER = 9;
const NO_PREFIXES: readonly Prefix[] = [];

/** All prefixes, found by their trigger and the character before it. */
export class PrefixMatcher {
  readonly hasKnown: boolean;
  private readonly byPair = new Map<number, Prefix[]>();
  /** Triggers, and the characters before them. */
  readonly pairs: Pair[] = [];
  /** Known values without two ASCII characters in a row: by their first other character. */
  private readonly byWide = new Map<number, Prefix[]>();
  /** Beginnings of prefixes up to their triggers: a text that ends with one may go on as the prefix. */
  private readonly heads = new Set<string>();
  /** 1 for each character that a head ends with, in a table of its ASCII ones. */
  private readonly headEnds = new Uint8Array(128);
  private longestHead = 0;

  constructor(values: readonly string[], off = false) {
    this.hasKnown = !off && values.length > 0;
    if (off) return;
    for (const alike of groupsOf(values.flatMap(piecesOf))) this.add(knownValues(alike));
    for (const start of (SHAPED ??= shapedPrefixes())) this.add(start);
  }

  /** Triggers beyond ASCII. */
  get wide(): number[] {
    return [...this.byWide.keys()];
  }

  at(text: string, at: number, code: number): readonly Prefix[] {
    if (code > 127) return this.byWide.get(code) ?? NO_PREFIXES;
    const before = at === 0 ? 128 : text.charCodeAt(at - 1);
    return before > 127 ? NO_PREFIXES : (this.byPair.get((before << 7) | code) ?? NO_PREFIXES);
  }

  /** Number of characters at the end of the text that may begin a prefix whose trigger is still missing. */
  heldAt(text: string, floor: number): number {
    const last = text.charCodeAt(text.length - 1);
    if (last < 128 && this.headEnds[last] === 0) return 0;
    const most = Math.min(this.longestHead, text.length - floor);
    for (let length = most; length > 0; length--) if (this.heads.has(text.slice(text.length - length))) return length;
    return 0;
  }

  private add(start: Prefix): void {
    const { texts, offset } = start;
    const [first = ''] = texts;
    const code = first.charCodeAt(offset);
    if (code > 127) this.byWide.set(code, [...(this.byWide.get(code) ?? []), start]);
    else {
      const before = first.charCodeAt(offset - 1);
      const pair = (before << 7) | code;
      this.byPair.set(pair, [...(this.byPair.get(pair) ?? []), start]);
      this.pairs.push({ before, code });
    }
    for (const text of texts) {
      for (let length = 1; length <= offset; length++) {
        this.heads.add(text.slice(0, length));
        this.headEnds[text.charCodeAt(length - 1)] = 1;
      }
    }
    this.longestHead = Math.max(this.longestHead, offset);
  }
}

/**
 * A known value in pieces of one length, up to the longest run: each place of a text is compared with them. A short rest would
 * be found everywhere.
 */
function piecesOf(value: string): string[] {
  if (value.length <= LONGEST_RUN) return [value];
  const length = Math.ceil(value.length / Math.ceil(value.length / LONGEST_RUN));
  return Array.from({ length: Math.ceil(value.length / length) }, (_, index) => value.slice(index * length, (index + 1) * length));
}

/**
 * Known values with the same trigger at the same place. Groups with longer values come first: of two values that begin in one
 * place, the longer counts.
 */
function groupsOf(values: readonly string[]): string[][] {
  const groups = new Map<string, string[]>();
  for (const value of [...new Set(values)].sort((a, b) => b.length - a.length)) {
    const offset = triggerOf(value);
    const key = `${offset} ${value.slice(Math.max(0, offset - 1), offset + 1)}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [value]);
    else group.push(value);
  }
  return [...groups.values()];
}

/** Created on first use, since the prefixes are the same for all settings and calls. */
let SHAPED: readonly Prefix[] | undefined;

function shapedPrefixes(): Prefix[] {
  const starts = TOKEN_SHAPES.flatMap((shape) =>
    shape.prefixes.flatMap((prefix) => {
      // Pages that were made into Markdown escape it.
      const escaped = prefix.replaceAll('_', String.raw`\_`);
      const others = escaped === prefix ? [] : [shaped(escaped, { ...shape, body: withBackslash(shape.body) })];
      return [shaped(prefix, shape), ...others];
    }),
  );
  return [...starts, pemKey()];
}

function withBackslash(set: CharSet): CharSet {
  return { ...set, ascii: set.ascii.map((is, code) => (code === 92 ? 1 : is)) };
}

/** The rarest character with an ASCII one before it; without two ASCII characters in a row the first other one. */
function triggerOf(prefix: string): number {
  const places = [...Array(Math.min(prefix.length, DEEPEST_TRIGGER)).keys()].slice(1);
  const usable = places.filter((at) => prefix.charCodeAt(at) < 128 && prefix.charCodeAt(at - 1) < 128);
  for (const rare of RARE) {
    const found = usable.find((at) => rare.test(prefix.charAt(at)));
    if (found !== undefined) return found;
  }
  return usable[0] ?? prefix.split('').findIndex((character) => character.charCodeAt(0) > 127);
}

/** True if the prefix is at `start`; `undecided` if more text is needed. */
function compare(text: string, start: number, prefix: string, final: boolean): boolean | 'undecided' {
  if (text.length - start >= prefix.length) return text.startsWith(prefix, start);
  return !final && prefix.startsWith(text.slice(start)) ? 'undecided' : false;
}

function knownValues(values: readonly string[]): Prefix {
  const known = new KnownValues(values);
  const offset = triggerOf(values[0] ?? '');
  return {
    texts: values,
    offset,
    known: true,
    match: (text, trigger, final) => {
      const start = trigger - offset;
      if (start < 0) return undefined;
      const length = known.longestAt(text, start, final);
      if (length === 'undecided') return { partialFrom: start };
      return length === undefined ? undefined : { start, end: start + length };
    },
  };
}

function shaped(prefix: string, { body, min, isToken }: TokenShape): Prefix {
  const offset = triggerOf(prefix);
  // All characters from `from` to before `end` belong to the body: a long run is not looked at again for each place in it.
  let last = { text: '', from: 0, end: 0 };
  return {
    texts: [prefix],
    offset,
    known: false,
    match: (text, trigger, final) => {
      const start = trigger - offset;
      if (start < 0 || (start > 0 && hasCode(WORD, text.charCodeAt(start - 1)))) return undefined;
      const here = compare(text, start, prefix, final);
      if (here === 'undecided') return { partialFrom: start };
      if (!here) return undefined;
      const from = start + prefix.length;
      const isInLast = last.text === text && from >= last.from && from <= last.end;
      const end = runEnd(text, isInLast ? last.end : from, Math.min(text.length, from + LONGEST_RUN), body);
      last = { text, from, end };
      const atLimit = end === from + LONGEST_RUN;
      if (end === text.length && !final && !atLimit) return { partialFrom: start };
      if (end - from < min || (isToken && !isToken(text.slice(from, end)))) return undefined;
      return { start, end, tail: atLimit ? body : undefined };
    },
  };
}

function pemKey(): Prefix {
  const offset = KEY_BEGIN.indexOf('B');
  return {
    texts: [KEY_BEGIN],
    offset,
    known: false,
    match: (text, trigger, final) => (trigger < offset ? undefined : privateKey(text, trigger - offset, final)),
  };
}
