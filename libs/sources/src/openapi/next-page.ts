import { isExactNumberText, type JsonValue } from '#contracts';
import { fieldsOf } from '../fields.js';
import type { Operation, Parameter } from './operation.js';

const CURSOR_CHARACTERS = 500;
const LINK_CHARACTERS = 8_192;
/** Fields of a body that name the next page, and the query parameters by which APIs take it. */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  next_cursor: ['cursor'],
  nextCursor: ['cursor'],
  end_cursor: ['after', 'cursor'],
  endCursor: ['after', 'cursor'],
  next_page_token: ['page_token', 'pageToken'],
  nextPageToken: ['pageToken', 'page_token'],
  next_token: ['next_token', 'token'],
  nextToken: ['nextToken', 'token'],
  next_page: ['page', 'page_token', 'cursor'],
  nextPage: ['page', 'pageToken', 'cursor'],
  next: ['cursor', 'page', 'after', 'starting_after', 'start', 'offset'],
  '@odata.nextLink': [],
};

export interface NextPage {
  /** Address, cursor or number in the API's answer. */
  readonly next: string;
  /** Arguments of a call for the next page. Absent if none of the operation fits. */
  readonly args?: Readonly<Record<string, JsonValue>>;
}

export interface Asked {
  readonly operation: Pick<Operation, 'parameters'>;
  readonly url: URL;
}

/**
 * Next page by the `Link` header (RFC 8288), else by the usual fields of APIs. Pages are never requested automatically: an API
 * could have pages without end.
 */
export function nextPage(headers: Headers, json: unknown, asked: Asked): NextPage | undefined {
  const link = /<([^<>]{1,500})>[^<>]*;\s*rel="?next\b/.exec((headers.get('link') ?? '').slice(0, LINK_CHARACTERS))?.[1];
  if (link !== undefined) return { next: link, ...argsOfUrl(link, asked) };
  for (const place of placesOf(json))
    for (const [field, names] of Object.entries(FIELDS)) {
      const next = cursorOf(Object.hasOwn(place, field) ? place[field] : undefined);
      if (next !== undefined) return { next, ...(isUrl(next) ? argsOfUrl(next, asked) : argsOfCursor(next, [field, ...names], asked)) };
    }
  return undefined;
}

/** Text for the model. The arguments are those of the tool, so that the model can make the call. */
export function nextPageText({ next, args }: NextPage): string {
  return args === undefined
    ? `There is a next page: ${next}`
    : `There is a next page: repeat this call with ${JSON.stringify(args)}, and all other arguments as they are`;
}

function placesOf(json: unknown): readonly Readonly<Record<string, unknown>>[] {
  const fields = fieldsOf(json);
  const names = ['meta', 'pagination', 'paging', 'response_metadata', 'links', '_links', 'page_info', 'pageInfo'];
  return [fields, ...names.map((name) => fieldsOf(fields[name]))];
}

function cursorOf(value: unknown): string | undefined {
  // HAL: `_links.next.href`.
  const plain = fieldsOf(value)['href'] ?? value;
  if (typeof plain === 'number') return String(plain);
  return typeof plain === 'string' && plain !== '' && plain.length <= CURSOR_CHARACTERS ? plain : undefined;
}

const isUrl = (text: string): boolean => /^(?:https?:\/\/|[/?])/.test(text);

/** The query parameters in which the next address differs from this one. None when it is another address besides. */
function argsOfUrl(next: string, { operation, url }: Asked): Pick<NextPage, 'args'> {
  if (!URL.canParse(next, url.href)) return {};
  const target = new URL(next, url);
  if (target.origin !== url.origin || target.pathname !== url.pathname) return {};
  const args: Record<string, JsonValue> = {};
  for (const [name, value] of target.searchParams) {
    if (url.searchParams.get(name) === value) continue;
    const parameter = operation.parameters.find((it) => it.in === 'query' && it.name === name);
    const typed = parameter && typedValue(parameter, value);
    // A part of the address cannot be said with the arguments: the others alone could be another page.
    if (parameter === undefined || typed === undefined) return {};
    args[parameter.argument] = typed;
  }
  return Object.keys(args).length === 0 ? {} : { args };
}

function argsOfCursor(next: string, names: readonly string[], { operation }: Asked): Pick<NextPage, 'args'> {
  const found = names.map((name) => operation.parameters.find((it) => it.in === 'query' && it.name === name));
  const parameter = found.find((it) => it !== undefined);
  const typed = parameter && typedValue(parameter, next);
  return parameter === undefined || typed === undefined ? {} : { args: { [parameter.argument]: typed } };
}

/** The text of a query as the schema of the parameter has it; undefined when it has another type. */
function typedValue({ schema }: Parameter, text: string): JsonValue | undefined {
  const types = [schema['type']].flat();
  if (types.includes('integer') || types.includes('number'))
    return /^\d{1,15}$/.test(text) ? Number(text) : isExactNumberText(text) ? text : undefined;
  return types.includes('string') || schema['type'] === undefined ? text : undefined;
}
