import type { JsonValue } from '#contracts';
import { requestAsCurl, requestAsPython, requestAsTypeScript, type HttpRequest } from '#subject';
import { PARAMETER_EXAMPLES } from './examples/requests.js';
import { isNode, type Node } from './tidy.js';

const MCP_SESSION = { 'Mcp-Session-Id': String(PARAMETER_EXAMPLES['Mcp-Session-Id']) };

/** Headers besides the required ones: those of MCP, and some for a more useful response. */
const MORE_HEADERS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  submitCall: { Prefer: 'wait=10' },
  submitBatch: { Prefer: 'wait=10' },
  postMcp: { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'tools/call', 'Mcp-Name': 'file_read' },
  getMcp: MCP_SESSION,
  deleteMcp: MCP_SESSION,
};

interface CodeSample {
  readonly lang: string;
  readonly label: string;
  readonly source: string;
}

/** `x-codeSamples` of an operation, from its examples. None for one that becomes a WebSocket, since curl and fetch use HTTP only. */
export function codeSamples(method: string, path: string, operation: Node): readonly CodeSample[] {
  if (isNode(operation['responses']) && '101' in operation['responses']) return [];
  const request = requestOf(method, path, operation);
  return [
    { lang: 'Shell', label: 'curl', source: requestAsCurl(request) },
    { lang: 'TypeScript', label: 'TypeScript', source: requestAsTypeScript(request) },
    { lang: 'Python', label: 'Python', source: requestAsPython(request) },
  ];
}

function requestOf(method: string, path: string, operation: Node): HttpRequest {
  const required = parametersOf(operation).filter((parameter) => parameter['required'] === true);
  const within = (place: string) => required.filter((parameter) => parameter['in'] === place);
  const filled = within('path').reduce(
    (url, parameter) => url.replace(`{${nameOf(parameter)}}`, encodeURIComponent(textOf(parameter))),
    path,
  );
  const query = new URLSearchParams(
    within('query').map((parameter): [string, string] => [nameOf(parameter), textOf(parameter)]),
  ).toString();
  const [bodyType, body] = bodyOf(operation);
  const answers = answerTypesOf(operation);
  const streams = answers.includes('text/event-stream') && !answers.includes('application/json');
  return {
    method: method.toUpperCase(),
    path: query === '' ? filled : `${filled}?${query}`,
    needsKey: Array.isArray(operation['security']) && operation['security'].length > 0,
    headers: {
      ...(bodyType === undefined ? {} : { 'Content-Type': bodyType }),
      ...(streams ? { Accept: 'text/event-stream' } : answers.length > 1 ? { Accept: answers.join(', ') } : {}),
      ...Object.fromEntries(within('header').map((parameter) => [nameOf(parameter), textOf(parameter)])),
      ...MORE_HEADERS[String(operation['operationId'])],
    },
    ...(body === undefined ? {} : { body }),
    streams,
  };
}

function parametersOf(operation: Node): readonly Node[] {
  return Array.isArray(operation['parameters']) ? operation['parameters'].filter(isNode) : [];
}

function nameOf(parameter: Node): string {
  return String(parameter['name']);
}

/** Example of a parameter. @throws Error if it has none */
function textOf(parameter: Node): string {
  const schema = isNode(parameter['schema']) ? parameter['schema'] : {};
  const example: unknown = parameter['example'] ?? (Array.isArray(schema['examples']) ? schema['examples'][0] : undefined);
  if (typeof example !== 'string' && typeof example !== 'number') throw new Error(`the parameter ${nameOf(parameter)} has no example`);
  return String(example);
}

/** Media type and first example of the body. */
function bodyOf({ requestBody }: Node): readonly [type?: string, body?: JsonValue] {
  if (!isNode(requestBody) || !isNode(requestBody['content'])) return [];
  const [[type, media] = []] = Object.entries(requestBody['content']);
  const [example] = isNode(media) && isNode(media['examples']) ? Object.values(media['examples']) : [];
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the document is JSON
  return isNode(example) ? [type, example['value'] as JsonValue] : [];
}

/** Media types of the first success. */
function answerTypesOf({ responses }: Node): readonly string[] {
  const [success] = isNode(responses) ? Object.values(responses) : [];
  return isNode(success) && isNode(success['content']) ? Object.keys(success['content']) : [];
}
