import { ToolError } from '#tool-sdk';
import { pathText, percentEncoded, type Place, type Written } from './parameter-style.js';

/** A place in a path for the text of a parameter. */
export interface Slot {
  /** The name between the braces, without operators and expressions of a router. */
  readonly name: string;
  /** True if the text may have slashes: `{path+}`, `{path*}`, `{+path}`, `{path...}`, `{path:.*}`. */
  readonly isGreedy: boolean;
  readonly isInQuery: boolean;
  /** The style that an operator of RFC 6570 asks for: `{.format}`, `{;v}`. */
  readonly style?: 'label' | 'matrix';
}
export type PathPart = string | Slot;

interface SlotParameter extends Written {
  readonly in: Place;
  readonly required: boolean;
}

const SLOT = /\{((?:[^{}]|\{[^{}]*\})+)\}/g;

/**
 * The parts of a path as documents write it. A fragment is not sent, and `{?a,b}` (RFC 6570) stands for parameters of the
 * query, which are described by themselves. `extra` are path parameters, which may also be written `:name` or `<name>`.
 */
export function pathTemplate(path: string, extra: readonly string[] = []): PathPart[] {
  const text = withBraces(path.replace(/\{[?&#][^{}]*\}/g, ''), extra).replace(/#(?![^{]*\}).*$/s, '');
  const parts: PathPart[] = [];
  let end = 0;
  for (const match of text.matchAll(SLOT)) {
    const before = match[1]?.startsWith('/') === true ? '/' : '';
    parts.push(`${text.slice(end, match.index)}${before}`, slotOf(match[1] ?? '', text.slice(0, match.index).includes('?')));
    end = match.index + match[0].length;
  }
  return [...parts, text.slice(end)].filter((part) => part !== '');
}

function withBraces(path: string, names: readonly string[]): string {
  const braced = (text: string, name: string) => (names.includes(name) ? `{${name}}` : text);
  return path.replace(/(?<=\/):([A-Za-z_]\w*)(?=\/|$|\?)/g, braced).replace(/(?<=\/)<(?:\w+:)?([A-Za-z_]\w*)>/g, braced);
}

function slotOf(inside: string, isInQuery: boolean): Slot {
  const [, before = '', name = '', after = '', pattern] = /^([+*/.;]*)([^:]*?)(\+|\*|\.\.\.|\?)?(?::(.*))?$/s.exec(inside) ?? [];
  const isGreedy = /[+*]/.test(before) || !['', '?'].includes(after) || (pattern !== undefined && /^\.[*+]|^path$/.test(pattern.trim()));
  const style = before === '.' ? 'label' : before === ';' ? 'matrix' : undefined;
  return { name: name.trim() === '' ? inside : name.trim(), isGreedy, isInQuery, ...(style && { style }) };
}

/**
 * The text of a slot; undefined for an optional parameter of the query without a value. A path without the text of a
 * parameter would be that of another operation. @throws ToolError `invalid_arguments` when the value has no text
 */
export function slotText(
  { isGreedy, isInQuery, name, style }: Slot,
  parameter: SlotParameter,
  value: unknown,
  path: string,
): string | undefined {
  const isOfQuery = parameter.in === 'query';
  const { allowReserved, ...plainly } = parameter;
  const bare = pathText({ ...plainly, style: 'simple' }, value);
  if (isOfQuery && (value === '' || bare !== '')) return bare;
  if (isOfQuery && !parameter.required) return undefined;
  const takesSlashes = isGreedy || (allowReserved === true && !isInQuery);
  if (bare === '' || (takesSlashes && typeof value === 'string' && /^\/+$/.test(value)))
    throw new ToolError('invalid_arguments', `Missing required path parameter '${name}' for ${path}`, { retryable: false });
  if (isGreedy && typeof value === 'string') return value.replace(/^\//, '').split('/').map(percentEncoded).join('/');
  if (isInQuery) return bare;
  return pathText(
    { ...parameter, style: style ?? parameter.style },
    takesSlashes && typeof value === 'string' ? value.replace(/^\//, '') : value,
  );
}
