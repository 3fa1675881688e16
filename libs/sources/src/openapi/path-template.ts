import { ToolError } from '#tool-sdk';
import { pathText, percentEncoded, type Written } from './parameter-style.js';

/** A place in a path for the text of a parameter. */
export interface Slot {
  /** The name between the braces, without operators and expressions of a router. */
  readonly name: string;
  /** Its text may have slashes: `{path+}`, `{path*}`, `{+path}`, `{path...}`, `{path:.*}`. */
  readonly isGreedy: boolean;
  readonly isInQuery: boolean;
}
export type PathPart = string | Slot;

const SLOT = /\{((?:[^{}]|\{[^{}]*\})+)\}/g;

/**
 * The parts of a path as documents write it. A fragment is not sent, and `{?a,b}` (RFC 6570) stands for parameters of the
 * query, which are described by themselves. `extra` are path parameters, which may also be written `:name`.
 */
export function pathTemplate(path: string, extra: readonly string[] = []): PathPart[] {
  const text = withBraces(path.replace(/\{[?&#][^{}]*\}/g, ''), extra).replace(/#(?![^{]*\}).*$/s, '');
  const parts: PathPart[] = [];
  let end = 0;
  for (const match of text.matchAll(SLOT)) {
    parts.push(text.slice(end, match.index), slotOf(match[1] ?? '', text.slice(0, match.index).includes('?')));
    end = match.index + match[0].length;
  }
  return [...parts, text.slice(end)].filter((part) => part !== '');
}

function withBraces(path: string, names: readonly string[]): string {
  return path.replace(/(?<=\/):([A-Za-z_]\w*)(?=\/|$|\?)/g, (text, name: string) => (names.includes(name) ? `{${name}}` : text));
}

function slotOf(inside: string, isInQuery: boolean): Slot {
  const [, before = '', name = '', after = '', pattern] = /^([+*/.;]*)([^:]*?)(\+|\*|\.\.\.)?(?::(.*))?$/s.exec(inside) ?? [];
  const isGreedy = /[+*]/.test(before) || after !== '' || (pattern !== undefined && /^\.[*+]|^path$/.test(pattern.trim()));
  return { name: name.trim() === '' ? inside : name.trim(), isGreedy, isInQuery };
}

/** The text of a slot. @throws ToolError `invalid_arguments` when the value has none */
export function slotText({ isGreedy, isInQuery, name }: Slot, written: Written, value: unknown, path: string): string {
  if (isEmpty(value))
    throw new ToolError('invalid_arguments', `Missing required path parameter '${name}' for ${path}`, { retryable: false });
  if (isGreedy && typeof value === 'string') return value.replace(/^\//, '').split('/').map(percentEncoded).join('/');
  return pathText(isInQuery ? { ...written, style: 'simple' } : written, value);
}

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0);
