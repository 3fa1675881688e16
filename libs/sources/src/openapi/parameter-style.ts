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
  /** Reserved characters of a query stay as they are, except those that would end the value. */
  readonly allowReserved?: boolean;
  /** An empty list is written as the name without a value. */
  readonly allowEmpty?: boolean;
}

type Encode = (text: string) => string;

/** RFC 3986: everything but unreserved characters. */
export const percentEncoded: Encode = (text) =>
  encodeURIComponent(text.toWellFormed()).replace(/[!'()*]/g, (it) => `%${it.charCodeAt(0).toString(16).toUpperCase()}`);

const reservedKept: Encode = (text) => percentEncoded(text).replace(/%(3A|2F|3F|40|21|24|27|28|29|2A|2C|3B|5B|5D)/g, decodeURIComponent);

/** The style `cookie` of OpenAPI 3.2: only what would end the value is encoded. */
const asItIs: Encode = (text) => text.toWellFormed().replace(/[^\u0021-\u003a\u003c-\u007e]/g, percentEncoded);

/** The text of a path parameter. */
export function pathText({ name, style, explode }: Written, value: unknown): string {
  if (style === 'matrix') return matrix(name, explode, value);
  const prefix = style === 'label' ? '.' : '';
  return prefix + joined(value, explode, style === 'label' && explode ? '.' : (DELIMITERS[style] ?? ','), percentEncoded);
}

/** The text of a header. Its characters stay as they are. */
export const headerText = ({ style, explode }: Written, value: unknown): string =>
  joined(value, explode, decodeURIComponent(DELIMITERS[style] ?? ','), (text) => text);

/** `name=value` pairs of a query, a form or cookies, encoded. An empty list or object gives none. */
export function pairsOf(written: Written, value: unknown): [string, string][] {
  const { name, style, explode } = written;
  const encode = style === 'cookie' ? asItIs : written.allowReserved === true ? reservedKept : percentEncoded;
  const key = percentEncoded(name);
  if (typeof value !== 'object' || value === null) return [[key, encode(plain(value))]];
  if (Object.keys(value).length === 0) return written.allowEmpty === true ? [[key, '']] : [];
  if (style === 'deepObject') return deepPairs(name, value, encode);
  if (Array.isArray(value)) {
    if (explode) return value.map((item) => [key, encode(plain(item))]);
    return [[key, value.map((item) => encode(plain(item))).join(DELIMITERS[style] ?? ',')]];
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
      ? item.map((it: unknown): [string, string] => [percentEncoded(key), encode(plain(it))])
      : deepPairs(key, item, encode);
  });
}

const isNested = (item: unknown): item is object => typeof item === 'object' && item !== null && !(item instanceof ExactNumber);

function matrix(name: string, explode: boolean, value: unknown): string {
  const key = percentEncoded(name);
  if (!explode || typeof value !== 'object' || value === null) return `;${key}=${joined(value, false, ',', percentEncoded)}`;
  if (Array.isArray(value)) return value.map((item) => `;${key}=${percentEncoded(plain(item))}`).join('');
  return entriesOf(value)
    .map(([field, item]) => `;${percentEncoded(field)}=${percentEncoded(plain(item))}`)
    .join('');
}

function joined(value: unknown, explode: boolean, delimiter: string, encode: Encode): string {
  if (typeof value !== 'object' || value === null) return encode(plain(value));
  if (Array.isArray(value)) return value.map((item) => encode(plain(item))).join(delimiter);
  return entriesOf(value)
    .map(([field, item]) => `${encode(field)}${explode ? '=' : ','}${encode(plain(item))}`)
    .join(delimiter);
}

const entriesOf = (value: object): [string, unknown][] => Object.entries(value).filter(([, item]) => item !== undefined);

/** What has no form in a style, such as a list within a list, is written as JSON. */
export function plain(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === null || value === undefined ? '' : value instanceof ExactNumber ? value.digits : exactJsonText(value);
}

/** With the digits of numbers in place of them, where a style writes them: the value, or its items or fields. */
export function withDigits(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(digitsOf);
  if (typeof value !== 'object' || value === null || value instanceof ExactNumber) return digitsOf(value);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, Array.isArray(item) ? item.map(digitsOf) : digitsOf(item)]));
}

const digitsOf = (value: unknown): unknown => (value instanceof ExactNumber ? value.digits : value);
