import type { Call } from '#contracts';
import { pythonLiteral, shellWord } from './literals.js';
import { requestAsCurl } from './request-code.js';

/** Fields of a call required to repeat it. */
type Repeatable = Pick<Call, 'tool' | 'arguments' | 'sessionId'>;

/** Command that submits the call again. Contains the name of the key's variable, never the key. */
export function asCurl({ tool, arguments: args, sessionId }: Repeatable, baseUrl: string): string {
  const body = { tool, arguments: args, ...(sessionId === undefined ? {} : { sessionId }) };
  const headers = { 'Content-Type': 'application/json', Prefer: 'wait=30' };
  return requestAsCurl({ method: 'POST', path: '/v1/calls', headers, needsKey: true, body }, baseUrl);
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

/** Code for the one-file client, `apps/examples/python/toolyard.py`. */
export function asPython({ tool, arguments: args, sessionId }: Repeatable, baseUrl: string): string {
  const session = sessionId === undefined ? '' : `, sessionId=${pythonLiteral(sessionId)}`;
  return `from toolyard import Toolyard, text_of

toolyard = Toolyard(${pythonLiteral(baseUrl)})  # the key is in TOOLYARD_API_KEY
call = toolyard.run(${pythonLiteral(tool)}, ${pythonLiteral(args)}${session})
print(call["outcome"], text_of(call))
`;
}

/** Command for the CLI on the PATH; the key comes from `TOOLYARD_API_KEY`, or from the file that `npm start` wrote. */
export function asCli({ tool, arguments: args, sessionId }: Repeatable, baseUrl: string): string {
  return [
    `toolyard --url ${shellWord(baseUrl)} call ${shellWord(tool)} ${shellWord(JSON.stringify(args))}`,
    ...(sessionId === undefined ? [] : [`--session ${shellWord(sessionId)}`]),
  ].join(' ');
}
