import type { Call } from '#contracts';

/** A call as commands that submit it again. They name the key's variable and never contain the key. */
export function asCurl({ tool, arguments: args, sessionId }: Call, baseUrl: string): string {
  const body = JSON.stringify({ tool, arguments: args, ...(sessionId === undefined ? {} : { sessionId }) });
  return [
    `curl -sS ${quoted(`${baseUrl}/v1/calls`)}`,
    `-H "Authorization: Bearer $TOOLYARD_API_KEY"`,
    `-H 'Content-Type: application/json'`,
    `-H 'Prefer: wait=30'`,
    `-d ${quoted(body)}`,
  ].join(' \\\n  ');
}

export function asSdk({ tool, arguments: args, sessionId }: Call, baseUrl: string): string {
  const submission = JSON.stringify({ tool, arguments: args, ...(sessionId === undefined ? {} : { sessionId }) }, null, 2);
  return `const client = new ToolyardClient({ baseUrl: ${JSON.stringify(baseUrl)}, apiKey: process.env.TOOLYARD_API_KEY });
const call = await client.calls.run(${submission});
console.log(call.outcome, call.result);`;
}

/** For the folder of Toolyard, where `npx toolyard` is; the key is in `TOOLYARD_API_KEY`, or what `npm start` left there. */
export function asCli({ tool, arguments: args, sessionId }: Call, baseUrl: string): string {
  return [
    `npx toolyard --url ${quoted(baseUrl)} call ${quoted(tool)} ${quoted(JSON.stringify(args))}`,
    ...(sessionId === undefined ? [] : [`--session ${quoted(sessionId)}`]),
  ].join(' ');
}

/** For a POSIX shell: plain where it may be, single-quoted otherwise; nothing in it is expanded. */
function quoted(text: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
