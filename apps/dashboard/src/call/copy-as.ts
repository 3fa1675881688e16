import type { Call, JsonValue } from '#contracts';

/** What of a call its repetition needs. */
type Repeatable = Pick<Call, 'tool' | 'arguments' | 'sessionId'>;

/** A call as commands that submit it again. They name the key's variable and never contain the key. */
export function asCurl({ tool, arguments: args, sessionId }: Repeatable, baseUrl: string): string {
  const body = JSON.stringify({ tool, arguments: args, ...(sessionId === undefined ? {} : { sessionId }) });
  return [
    `curl -sS ${quoted(`${baseUrl}/v1/calls`)}`,
    `-H "Authorization: Bearer $TOOLYARD_API_KEY"`,
    `-H 'Content-Type: application/json'`,
    `-H 'Prefer: wait=30'`,
    `-d ${quoted(body)}`,
  ].join(' \\\n  ');
}

export function asSdk({ tool, arguments: args, sessionId }: Repeatable, baseUrl: string): string {
  const submission = JSON.stringify({ tool, arguments: args, ...(sessionId === undefined ? {} : { sessionId }) }, null, 2);
  return `import { ToolyardClient } from '@toolyard/client';

const client = new ToolyardClient({ baseUrl: ${JSON.stringify(baseUrl)}, apiKey: process.env.TOOLYARD_API_KEY });
const call = await client.calls.run(${submission});
console.log(call.outcome, call.result);
client.close();
`;
}

/** For the client in one file, `apps/examples/python/toolyard.py`. */
export function asPython({ tool, arguments: args, sessionId }: Repeatable, baseUrl: string): string {
  const session = sessionId === undefined ? '' : `, sessionId=${pythonLiteral(sessionId)}`;
  return `from toolyard import Toolyard, text_of

toolyard = Toolyard(${pythonLiteral(baseUrl)})  # the key is in TOOLYARD_API_KEY
call = toolyard.run(${pythonLiteral(tool)}, ${pythonLiteral(args)}${session})
print(call["outcome"], text_of(call))
`;
}

/** Strings and numbers of JSON mean the same in Python. */
function pythonLiteral(value: JsonValue): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (Array.isArray(value)) return `[${value.map(pythonLiteral).join(', ')}]`;
  if (typeof value !== 'object') return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([key, item]) => `${JSON.stringify(key)}: ${pythonLiteral(item)}`)
    .join(', ')}}`;
}

/** For the folder of Toolyard, where `npx toolyard` is; the key is in `TOOLYARD_API_KEY`, or what `npm start` left there. */
export function asCli({ tool, arguments: args, sessionId }: Repeatable, baseUrl: string): string {
  return [
    `npx toolyard --url ${quoted(baseUrl)} call ${quoted(tool)} ${quoted(JSON.stringify(args))}`,
    ...(sessionId === undefined ? [] : [`--session ${quoted(sessionId)}`]),
  ].join(' ');
}

/** For a POSIX shell: plain where it may be, single-quoted otherwise; nothing in it is expanded. */
function quoted(text: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
