import { ExactNumber, exactJsonText } from '#tool-sdk';

/** `querystring`, of OpenAPI 3.2, is the whole query. */
export const PLACES = ['path', 'query', 'header', 'cookie', 'querystring'] as const;
export type Place = (typeof PLACES)[number];
export const STYLES = [
  'simple',
  'label',
  'matrix',
  'form',
  'spaceDelimited',
  'pipeDelimited',
  'tabDelimited',
  'deepObject',
  'cookie',
] as const;
export type Style = (typeof STYLES)[number];

/** How a value is written into a request: section "Style Values" of OpenAPI 3. */
export interface Written {
  readonly name: string;
  readonly style: Style;
  readonly explode: boolean;
  /** Reserved characters and those that are encoded already stay as they are, except those that would end the value. */
  readonly allowReserved?: boolean;
  /** An empty list is written as the name without a value. */
  readonly allowEmpty?: boolean;
}

type Encode = (text: string) => string;

/** RFC 3986: everything but unreserved characters. */
export const percentEncoded: Encode = (text) =>
  encodeURIComponent(text.toWellFormed()).replace(/[!'()*]/g, (it) => `%${it.charCodeAt(0).toString(16).toUpperCase()}`);

/** RFC 6570, section 3.2.3, without `&`, `#` and `+`, which mean something else in a query. */
const reservedKept: Encode = (text) => encodedKept(text, /%(3A|2F|3F|40|21|24|27|28|29|2A|2C|3B|3D|5B|5D)/g);
/** Same for a path, where `?` and `#` would end it. */
const reservedKeptInPath: Encode = (text) => encodedKept(text, /%(3A|2F|40|21|24|26|27|28|29|2A|2B|2C|3B|3D|5B|5D)/g);
/** Same for a cookie, where `;` would end the value. */
const reservedKeptInCookie: Encode = (text) => encodedKept(text, /%(3A|2F|3F|40|21|24|26|27|28|29|2A|2B|3D|5B|5D)/g);

const encodedKept = (text: string, kept: RegExp): string =>
  text
    .split(/(%[0-9A-Fa-f]{2})/)
    .map((part, index) => (index % 2 === 1 ? part : percentEncoded(part).replace(kept, decodeURIComponent)))
    .join('');

/** The style `cookie` of OpenAPI 3.2: only what would end the value is encoded. */
const asItIs: Encode = (text) => text.toWellFormed().replace(/[^\u0021-\u003a\u003c-\u007e]/g, percentEncoded);

/** The text of a path parameter. */
export function pathText({ name, style, explode, allowReserved }: Written, value: unknown): string {
  const encode = allowReserved === true ? reservedKeptInPath : percentEncoded;
  if (style === 'matrix') return matrix(name, explode, value, encode);
  const prefix = style === 'label' ? '.' : '';
  return prefix + joined(value, explode, style === 'label' && explode ? '.' : (DELIMITERS[style] ?? ','), encode);
}

/** The text of a header. Its characters stay as they are. */
export const headerText = ({ style, explode }: Written, value: unknown): string =>
  joined(value, explode, decodeURIComponent(DELIMITERS[style] ?? ','), (text) => text);

/** `name=value` pairs of a query, a form or cookies, encoded. An empty list or object gives none. */
export function pairsOf(written: Written, value: unknown, place: 'query' | 'cookie' = 'query'): [string, string][] {
  const { name, style, explode } = written;
  const kept = place === 'cookie' ? reservedKeptInCookie : reservedKept;
  const encode = style === 'cookie' ? asItIs : written.allowReserved === true ? kept : percentEncoded;
  const key = percentEncoded(name);
  if (typeof value !== 'object' || value === null) return [[key, encode(plain(value))]];
  if (Object.keys(value).length === 0) return written.allowEmpty === true ? [[key, '']] : [];
  if (style === 'deepObject') return deepPairs(name, value, encode);
  if (Array.isArray(value)) {
    const items = itemsOf(value);
    if (explode) return items.map((item) => [key, encode(plain(item))]);
    return items.length === 0 ? [] : [[key, items.map((item) => encode(plain(item))).join(DELIMITERS[style] ?? ',')]];
  }
  const entries = entriesOf(value);
  if (explode) return entries.map(([field, item]) => [percentEncoded(field), encode(plain(item))]);
  return [[key, entries.flatMap(([field, item]) => [percentEncoded(field), encode(plain(item))]).join(DELIMITERS[style] ?? ',')]];
}

const DELIMITERS: Partial<Record<Style, string>> = { spaceDelimited: '%20', pipeDelimited: '%7C', tabDelimited: '%09' };

/**
 * Members in brackets. OpenAPI says nothing of lists: those of plain values repeat the name of their member, others have
 * their places in brackets, as does a list that is the whole value.
 */
function deepPairs(name: string, value: object, encode: Encode): [string, string][] {
  return entriesOf(value).flatMap(([field, item]) => {
    const key = `${name}[${field}]`;
    if (!isNested(item)) return [[percentEncoded(key), encode(plain(item))] satisfies [string, string]];
    const isPlainList = Array.isArray(item) && !item.some(isNested);
    return isPlainList
      ? itemsOf(item).map((it): [string, string] => [percentEncoded(key), encode(plain(it))])
      : deepPairs(key, item, encode);
  });
}

const isNested = (item: unknown): item is object => typeof item === 'object' && item !== null && !(item instanceof ExactNumber);

function matrix(name: string, explode: boolean, value: unknown, encode: Encode): string {
  const key = percentEncoded(name);
  if (!explode || typeof value !== 'object' || value === null) return `;${key}=${joined(value, false, ',', encode)}`;
  if (Array.isArray(value))
    return itemsOf(value)
      .map((item) => `;${key}=${encode(plain(item))}`)
      .join('');
  return entriesOf(value)
    .map(([field, item]) => `;${percentEncoded(field)}=${encode(plain(item))}`)
    .join('');
}

function joined(value: unknown, explode: boolean, delimiter: string, encode: Encode): string {
  if (typeof value !== 'object' || value === null) return encode(plain(value));
  if (Array.isArray(value))
    return itemsOf(value)
      .map((item) => encode(plain(item)))
      .join(delimiter);
  return entriesOf(value)
    .map(([field, item]) => `${encode(field)}${explode ? '=' : ','}${encode(plain(item))}`)
    .join(delimiter);
}

/** RFC 6570, section 3.2.1: members and items without a value are left out. */
const entriesOf = (value: object): [string, unknown][] => Object.entries(value).filter(([, item]) => item !== undefined && item !== null);
const itemsOf = (value: readonly unknown[]): unknown[] => value.filter((item) => item !== null && item !== undefined);

/** Text of a value; JSON for values without a form in a style, such as a list within a list. */
export function plain(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === null || value === undefined ? '' : value instanceof ExactNumber ? value.digits : exactJsonText(value);
}

/** Replaces numbers by their digits, where a style writes them: the value, or its items or fields. */
export function withDigits(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(digitsOf);
  if (typeof value !== 'object' || value === null || value instanceof ExactNumber) return digitsOf(value);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, Array.isArray(item) ? item.map(digitsOf) : digitsOf(item)]));
}

const digitsOf = (value: unknown): unknown => (value instanceof ExactNumber ? value.digits : value);
