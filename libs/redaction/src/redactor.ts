import { CONTEXT, SecretFinder, type FinderSettings, type Match, type ScanState } from './secrets/secret-finder.js';
import type { Json } from './json-value.js';
import { REDACTED } from './secrets/secret-match.js';
import { revealHiddenText } from './text/reveal-hidden-text.js';

const NONE: readonly string[] = [];
const INITIAL_STATE: ScanState = { from: 0, floor: 0 };
/** A shorter text would be found everywhere. */
const SHORTEST_KNOWN = 6;

/**
 * Most secrets that are looked for in a value from outside: each costs some microseconds, and more for every later text. What comes
 * after them is removed as a whole.
 */
export const MOST_SECRETS = 1_000;

/** A value with its secrets marked; `secrets` are those that were found, as they were. The very same value when there are none. */
export interface Redacted<T> {
  readonly value: T;
  readonly secrets: readonly string[];
}

/** Shortest truncated rest that gets a mark. Shorter ones are removed without a mark, since nearly any text could begin a secret. */
const SHORTEST_MARKED = 6;

/** Redacts a text in pieces. The joined results of `push` and `flush` equal the redacted whole text. */
export interface RedactedStream {
  /** Decided text so far. Holds back text that may become a secret, at most a few KiB. */
  push(piece: string): string;
  /** Rest of the text. `cut`: the text is truncated here; removes a possible partial secret at its end. */
  flush(cut?: boolean): string;
}

/**
 * Replaces secrets in texts and JSON by `[REDACTED]`. Immutable.
 *
 * @example
 * Redactor.of({ values: ['hunter22'] }).text('password: hunter22'); // 'password: [REDACTED]'
 */
export class Redactor {
  private nameless: Redactor | undefined;

  private constructor(private readonly finder: SecretFinder) {}

  static of(settings: FinderSettings = {}): Redactor {
    return new Redactor(new SecretFinder(settings));
  }

  /**
   * Redactor that also removes these texts everywhere. Ignores texts of fewer than 6 characters. A text longer than the longest
   * run is removed in pieces, each with a mark.
   */
  withSecrets(values: readonly string[]): Redactor {
    const telling = values.filter(({ length }) => length >= SHORTEST_KNOWN);
    return telling.length === 0 ? this : new Redactor(this.finder.with(telling));
  }

  /** Redacts a cleaned text. Hidden characters must be removed before, since they hide secrets. */
  text(text: string): string {
    const { matches } = this.finder.scan(text, INITIAL_STATE, true);
    return matches.length === 0 ? text : replaced(text, 0, text.length, matches);
  }

  /** Redacts the beginning of a longer text, and removes a possible partial secret at its end. */
  truncatedText(text: string): string {
    const { matches, until } = this.finder.scan(text, INITIAL_STATE, false);
    return replaced(text, 0, until, matches) + markOf(text.length - until);
  }

  /** Redacts a text that keeps its hidden characters, as arguments do. A secret with hidden characters inside is removed whole. */
  rawText(text: string): string {
    return this.redactRaw(text).value;
  }

  /** The same for names made by programs, such as ids of calls: nothing is secret only because it looks random. */
  identifier(text: string): string {
    this.nameless ??= this.of(this.finder.withoutRandom());
    return this.nameless.rawText(text);
  }

  /**
   * Arguments and the like, uncleaned: texts and keys at any depth, and by their keys also values that do not look like secrets. After
   * 1,000 secrets all other texts are removed, and not searched.
   */
  json<T extends Json>(value: T): Redacted<T> {
    const secrets: string[] = [];
    const key = (raw: string) => {
      const redacted = this.redactRaw(raw);
      for (const secret of redacted.secrets) secrets.push(secret);
      return redacted.value;
    };
    const text = (raw: string) => (secrets.length < MOST_SECRETS ? key(raw) : raw === '' ? raw : REDACTED);
    const named = (secret: string) => {
      if (secrets.length < MOST_SECRETS) secrets.push(secret, ...revealHiddenText(secret).map((reading) => reading.text));
    };
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the walk keeps the form: it exchanges texts, and numbers under secret names, for texts
    return { value: this.walk(value, { text, key, named }) as T, secrets };
  }

  /** The same walk with another function for texts. */
  mapTexts<T extends Json>(value: T, text: (text: string) => string): T {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as in `json`
    return this.walk(value, { text, key: text, named: () => {} }) as T;
  }

  /** Redacted keys of an object by original key; undefined if none changes. Keys that become equal are numbered. */
  redactedKeys(fields: Readonly<Record<string, Json>>): ReadonlyMap<string, string> | undefined {
    return renamedKeys(fields, (key) => this.redactRaw(key).value);
  }

  isSecretName(name: string): boolean {
    return this.finder.names.has(name);
  }

  stream(): EditStream {
    return new EditStream(this.finder);
  }

  private of(finder: SecretFinder): Redactor {
    return finder === this.finder ? this : new Redactor(finder);
  }

  /** `secrets` in every way in which they can be read: with what hides in them, and without. */
  private redactRaw(text: string): Redacted<string> {
    const { matches } = this.finder.scan(text, INITIAL_STATE, true, MOST_SECRETS);
    const readings = revealHiddenText(text);
    if (matches.length === 0 && readings.length === 0) return { value: text, secrets: NONE };
    const secrets = matches.filter(isFound).map(({ start, end }) => text.slice(start, end));
    if (readings.length === 0) return { value: replaced(text, 0, text.length, matches), secrets };
    const found = [...matches];
    for (const reading of readings) {
      for (const match of this.finder.scan(reading.text, INITIAL_STATE, true, MOST_SECRETS).matches) {
        const { start, end } = match;
        if (isFound(match)) secrets.push(reading.text.slice(start, end));
        found.push({ start: reading.offsets[start] ?? 0, end: (reading.offsets[end - 1] ?? 0) + 1 });
      }
    }
    return { value: found.length === 0 ? text : replaced(text, 0, text.length, mergeOverlapping(found)), secrets };
  }

  private walk(value: Json, walk: Walk): Json {
    if (typeof value === 'string') return walk.text(value);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return changedItems(value, (item) => this.walk(item, walk));
    const fields = changedFields(value, (field, key) =>
      this.namesSecret(key) ? this.secretField(key, field, walk) : this.walk(field, walk),
    );
    const names = renamedKeys(fields, walk.key);
    return names === undefined ? fields : Object.fromEntries(Object.entries(fields).map(([key, field]) => [names.get(key) ?? key, field]));
  }

  private namesSecret(key: string): boolean {
    return this.isSecretName(key) || revealHiddenText(key).some(({ text }) => this.isSecretName(text));
  }

  /**
   * Redacts the value of a key with the name of a secret, whatever its form, also in a list. Numbers may be passwords, but not
   * tokens.
   */
  private secretField(key: string, value: Json, walk: Walk): Json {
    if (typeof value === 'string') {
      if (value === '' || value === REDACTED) return value;
      walk.named(value);
      return REDACTED;
    }
    if (typeof value === 'number' && /pass|pwd|secret/i.test(key)) {
      walk.named(String(value));
      return REDACTED;
    }
    if (Array.isArray(value)) return changedItems(value, (item) => this.secretField(key, item, walk));
    return this.walk(value, walk);
  }
}

interface Walk {
  readonly text: (text: string) => string;
  readonly key: (key: string) => string;
  /** Called with each value that is secret because of its name. */
  readonly named: (secret: string) => void;
}

/** Redacts a text that arrives in pieces and reports the edits with their lengths, so that callers can place marks of their own. */
export class EditStream implements RedactedStream {
  /** Decided text as context for the following text, then undecided text. */
  private buffer = '';
  private decided = 0;
  private state: ScanState = INITIAL_STATE;

  constructor(private readonly finder: SecretFinder) {}

  push(piece: string): string {
    return join(this.advance(piece, false));
  }

  flush(cut = false): string {
    return join(cut ? this.truncate('') : this.advance('', true));
  }

  /** The last piece of a text that was cut off. */
  truncate(piece: string): Edit[] {
    const edits = this.advance(piece, false);
    const { heldLength } = this;
    return heldLength === 0 ? edits : [...edits, { length: heldLength, text: markOf(heldLength), isUnchanged: false }];
  }

  /** Number of characters held back. */
  get heldLength(): number {
    return this.buffer.length - this.decided;
  }

  /** Edits of the text decided by this piece. */
  advance(piece: string, final: boolean): Edit[] {
    this.buffer += piece;
    const { matches, until, state } = this.finder.scan(this.buffer, this.state, final);
    const edits = editsOf(this.buffer, this.decided, until, matches);
    const drop = Math.max(0, Math.min(until, state.from) - CONTEXT);
    this.buffer = this.buffer.slice(drop);
    this.decided = until - drop;
    this.state = { from: state.from - drop, floor: Math.max(0, state.floor - drop), tail: state.tail };
    return edits;
  }
}

/** Edit of a piece of decided text: `length` input characters become `text`. */
export interface Edit {
  readonly length: number;
  readonly text: string;
  readonly isUnchanged: boolean;
}

function editsOf(text: string, from: number, until: number, hits: readonly Match[]): Edit[] {
  const edits: Edit[] = [];
  let at = from;
  for (const { start, end, silent } of hits) {
    const begin = Math.max(start, at);
    if (begin > at) edits.push({ length: begin - at, text: text.slice(at, begin), isUnchanged: true });
    edits.push({ length: end - begin, text: silent ? '' : REDACTED, isUnchanged: false });
    at = end;
  }
  if (until > at) edits.push({ length: until - at, text: text.slice(at, until), isUnchanged: true });
  return edits;
}

function isFound({ unsearched }: Match): boolean {
  return unsearched !== true;
}

/** Matches in order, with overlapping or adjacent ones merged. */
function mergeOverlapping(hits: readonly Match[]): Match[] {
  const joined: { start: number; end: number }[] = [];
  for (const { start, end } of [...hits].sort((a, b) => a.start - b.start)) {
    const last = joined.at(-1);
    if (last !== undefined && start <= last.end) last.end = Math.max(last.end, end);
    else joined.push({ start, end });
  }
  return joined;
}

function markOf(undecided: number): string {
  return undecided < SHORTEST_MARKED ? '' : REDACTED;
}

function replaced(text: string, from: number, until: number, hits: readonly Match[]): string {
  return join(editsOf(text, from, until, hits));
}

function join(edits: readonly Edit[]): string {
  return edits.length === 1 ? (edits[0]?.text ?? '') : edits.map(({ text }) => text).join('');
}

/** The very same list when no item changed. */
function changedItems(items: Json[], change: (item: Json) => Json): Json[] {
  const changed = items.map(change);
  return changed.some((item, index) => item !== items[index]) ? changed : items;
}

/** Maps keys to their redacted form. Keys of fewer than 6 characters are never secret. */
function renamedKeys(fields: Readonly<Record<string, Json>>, shown: (key: string) => string): Map<string, string> | undefined {
  let names: Map<string, string> | undefined;
  for (const key of Object.keys(fields)) {
    const name = key.length < SHORTEST_KNOWN ? key : shown(key);
    if (name !== key) (names ??= new Map()).set(key, name);
  }
  if (names === undefined) return undefined;
  const usedNames = new Set(Object.keys(fields).filter((key) => names.get(key) === undefined));
  const numbers = new Map<string, number>();
  for (const [key, name] of names) {
    let unique = name;
    let number = numbers.get(name) ?? 2;
    for (; usedNames.has(unique); number++) unique = `${name} (${number})`;
    numbers.set(name, number);
    usedNames.add(unique);
    names.set(key, unique);
  }
  return names;
}

function changedFields(fields: Readonly<Record<string, Json>>, change: (field: Json, key: string) => Json): Record<string, Json> {
  let changed: Record<string, Json> | undefined;
  for (const key of Object.keys(fields)) {
    const before = fields[key];
    if (before === undefined) continue;
    const after = change(before, key);
    if (after !== before) (changed ??= { ...fields })[key] = after;
  }
  return changed ?? fields;
}
