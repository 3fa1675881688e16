import { exactJsonText, ToolError } from '#tool-sdk';
import type { Credentials } from './credentials.js';
import { encodeBody, type EncodedBody } from './encode-body.js';
import type { Operation, Parameter } from './operation.js';
import { headerText, pairsOf, pathText, percentEncoded, plain, withDigits } from './parameter-style.js';

export interface BuiltRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: EncodedBody['bytes'] | undefined;
}

const ACCEPT = 'application/json, text/*;q=0.8, */*;q=0.5';
const MAX_URL = 16_384;

/** The request of a call. @throws ToolError `invalid_arguments` */
export async function buildRequest(
  operation: Operation,
  args: Readonly<Record<string, unknown>>,
  credentials: Credentials,
): Promise<BuiltRequest> {
  const given = operation.parameters.filter(({ argument }) => args[argument] !== undefined);
  const valueOf = ({ argument, json }: Parameter) => (json ? exactJsonText(args[argument]) : withDigits(args[argument]));
  const inPlace = (place: Parameter['in']) => given.filter((it) => it.in === place);
  const query = inPlace('query').flatMap((it) => pairsOf(it, valueOf(it)));
  const cookies = inPlace('cookie').flatMap((it) => pairsOf(it, valueOf(it)));
  const headers = inPlace('header').map((it): [string, string] => [it.name, checkedHeader(it, headerText(it, valueOf(it)))]);
  const body =
    operation.body && args[operation.body.argument] !== undefined
      ? await encodeBody(operation.body, args[operation.body.argument])
      : undefined;
  const secretQuery = Object.entries(credentials.query).map(([name, value]) => [percentEncoded(name), percentEncoded(value)]);
  const search = [...query, ...secretQuery].map(([name, value]) => `${name}=${value}`).join('&');
  const cookie = [...cookies, ...Object.entries(credentials.cookies)].map(([name, value]) => `${name}=${value}`).join('; ');
  const url = `${operation.baseUrl}${pathOf(operation, args)}${search === '' ? '' : `?${search}`}`;
  if (url.length > MAX_URL) throw invalid(`expected arguments that fit into a URL of ${MAX_URL} characters; received ${url.length}`);
  return {
    method: operation.method.toUpperCase(),
    url: new URL(url),
    headers: {
      accept: ACCEPT,
      'user-agent': 'toolyard',
      ...Object.fromEntries(headers),
      ...(cookie === '' ? {} : { cookie }),
      ...(body === undefined ? {} : { 'content-type': body.contentType }),
      ...credentials.headers,
    },
    body: body?.bytes,
  };
}

function pathOf(operation: Operation, args: Readonly<Record<string, unknown>>): string {
  const path = operation.path.replace(/\{([^{}]+)\}/g, (_, name: string) => {
    const parameter = operation.parameters.find((it) => it.in === 'path' && it.name === name);
    const value = parameter === undefined ? undefined : args[parameter.argument];
    if (parameter === undefined || value === undefined || value === null || value === '')
      throw invalid(`Missing required path parameter '${name}' for ${operation.path}`);
    return pathText(parameter, parameter.json ? exactJsonText(value) : withDigits(value));
  });
  // A URL would resolve these, and so reach another operation.
  if (path.split('/').some((segment) => segment === '.' || segment === '..')) throw invalid('expected path parameters other than . and ..');
  return path.replace(/[?#]/g, percentEncoded);
}

function checkedHeader({ argument }: Parameter, text: string): string {
  if (/^[\t\u0020-\u007e\u0080-\u00ff]*$/.test(text)) return text;
  throw invalid(`expected text without line breaks, of Latin-1 characters, as ${argument}`);
}

function invalid(message: string): ToolError {
  return new ToolError('invalid_arguments', message, { retryable: false });
}

/** The address as results show it: without what was added to it in secret. */
export function shownUrl({ url }: BuiltRequest, credentials: Credentials): string {
  const shown = new URL(url);
  for (const name of Object.keys(credentials.query)) shown.searchParams.delete(name);
  return plain(shown.href).slice(0, 2_000);
}
