import { exactJsonText, ToolError } from '#tool-sdk';
import { isFields } from '../fields.js';
import type { Credentials } from './credentials.js';
import { encodeBody, formText, type EncodedBody } from './encode-body.js';
import type { Operation, Parameter } from './operation.js';
import { headerText, pairsOf, percentEncoded, plain, withDigits } from './parameter-style.js';
import { slotText } from './path-template.js';

export interface BuiltRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: EncodedBody['bytes'] | undefined;
}

type Args = Readonly<Record<string, unknown>>;

const MAX_URL = 16_384;
/** Marks a pair of the path's own query that is not sent. */
const LEFT_OUT = '\u0000';

/** The request of a call. @throws ToolError `invalid_arguments` */
export function buildRequest(operation: Operation, args: Args, credentials: Credentials): BuiltRequest {
  // Null has no form in a URL or a header and is omitted like an absent value.
  const given = operation.parameters.filter(({ argument }) => argOf(args, argument) !== null);
  const inPlace = (place: Parameter['in']) => given.filter((it) => it.in === place);
  const cookies = inPlace('cookie').flatMap((it) => pairsOf(it, valueOf(it, args), 'cookie'));
  const headers = inPlace('header').map((it): [string, string] => [
    it.name.toLowerCase(),
    checkedHeader(it, it.json ? asAscii(valueOf(it, args)) : headerText(it, valueOf(it, args))),
  ]);
  const { body: about } = operation;
  const body =
    about && Object.hasOwn(args, about.argument) && args[about.argument] !== undefined
      ? encodeBody(about, args[about.argument])
      : undefined;
  const cookie = [...cookies, ...Object.entries(credentials.cookies)].map(([name, value]) => `${name}=${value}`).join('; ');
  const url = urlOf(operation, given, args, credentials);
  if (url.length > MAX_URL) throw invalid(`expected arguments that fit into a URL of ${MAX_URL} characters; received ${url.length}`);
  return {
    method: operation.method.toUpperCase(),
    url: new URL(url),
    headers: {
      accept: operation.accept,
      'user-agent': 'toolyard',
      ...Object.fromEntries(headers),
      ...(cookie === '' ? {} : { cookie }),
      ...(body === undefined ? {} : { 'content-type': body.contentType }),
      ...credentials.headers,
    },
    body: body?.bytes,
  };
}

/** Null when the argument is absent: names of members that every object has are names like any other. */
const argOf = (args: Args, name: string): unknown => (Object.hasOwn(args, name) ? (args[name] ?? null) : null);

const valueOf = ({ argument, json }: Parameter, args: Args): unknown => {
  const value = argOf(args, argument);
  return json && value !== null ? exactJsonText(value) : withDigits(value);
};

/** The path, then its own query, then the parameters of the query, then what is added in secret. */
function urlOf(operation: Operation, given: readonly Parameter[], args: Args, credentials: Credentials): string {
  const template = operation.template.map((part) =>
    typeof part === 'string' ? part : (slotText(part, part.parameter, valueOf(part.parameter, args), operation.path) ?? LEFT_OUT),
  );
  const [path = '', own = ''] = template.join('').split(/\?(.*)/s);
  // A URL resolves these, or a server that decodes slashes and drops what follows a semicolon: another operation would be reached.
  if (path.split(/[/\\]|%2f|%5c/i).some((segment) => /^(?:\.|%2e){1,2}(?:(?:;|%3b).*)?$/is.test(segment)))
    throw invalid('expected path parameters other than . and ..');
  const inPath = new Set(operation.template.flatMap((part) => (typeof part === 'string' ? [] : [part.parameter])));
  const query = given.filter((it) => it.in === 'query' && !inPath.has(it)).flatMap((it) => pairsOf(it, valueOf(it, args)));
  const whole = given.filter((it) => it.in === 'querystring').map((it) => queryText(it, valueOf(it, args)));
  const named = new Set(query.map(([name]) => name));
  const fixed = own.split('&').filter((pair) => pair !== '' && !pair.includes(LEFT_OUT) && !named.has(pair.split('=')[0] ?? ''));
  const secret = Object.entries(credentials.query).map(([name, value]) => `${percentEncoded(name)}=${percentEncoded(value)}`);
  const search = [...fixed, ...query.map(([name, value]) => `${name}=${value}`), ...whole, ...secret].filter((it) => it !== '').join('&');
  return `${operation.baseUrl}${path}${search === '' ? '' : `?${search}`}`;
}

/** OpenAPI 3.2, `in: querystring`: the query is a form, or one text. */
function queryText({ json }: Parameter, value: unknown): string {
  return !json && isFields(value) ? formText({ encoding: {} }, value) : percentEncoded(plain(value));
}

/** JSON has an escape for each character that a header has no place for. */
const asAscii = (json: unknown): string =>
  plain(json).replace(/[\u007f-\uffff]/g, (it) => `\\u${it.charCodeAt(0).toString(16).padStart(4, '0')}`);

function checkedHeader({ argument }: Parameter, text: string): string {
  if (/^[\t\u0020-\u007e\u0080-\u00ff]*$/.test(text)) return text;
  throw invalid(`expected text without line breaks, of Latin-1 characters, as ${argument}`);
}

function invalid(message: string): ToolError {
  return new ToolError('invalid_arguments', message, { retryable: false });
}

/** The address as results show it: without what was added to it in secret. */
export function shownUrl({ url }: Pick<BuiltRequest, 'url'>, credentials: Credentials): string {
  const shown = new URL(url);
  for (const name of Object.keys(credentials.query)) shown.searchParams.delete(name);
  return plain(shown.href).slice(0, 2_000);
}
