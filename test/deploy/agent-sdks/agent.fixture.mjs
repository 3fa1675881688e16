// Shared code of the agents in this folder. They run in a folder of their own, where the SDKs are installed and `#client` is that of
// dist.
import { ToolyardClient } from '#client';

const { TOOLYARD_URL, TOOLYARD_API_KEY, SESSION, CALLS, OVER } = process.env;

export const sessionId = SESSION;
/** Tool calls in the scripted model's first answer: `{ id, name, input }`. Its second answer ends the run. */
export const calls = JSON.parse(CALLS);
export const client = new ToolyardClient({ baseUrl: TOOLYARD_URL, apiKey: TOOLYARD_API_KEY, WebSocket: false });

/** Settings of an SDK's MCP client, in place of the adapter for it. */
export const mcp = OVER === 'mcp' ? { url: `${TOOLYARD_URL}/mcp`, headers: { authorization: `Bearer ${TOOLYARD_API_KEY}` } } : undefined;

const controller = new AbortController();
/** Aborted by SIGUSR2: at SIGTERM the SDK of OpenAI Agents ends the process itself. */
export const { signal } = controller;
process.once('SIGUSR2', () => controller.abort());

/** Prints what the model has read of each call, and ends the program. */
export function report(facts) {
  client.close();
  process.stdout.write(`${JSON.stringify(facts)}\n`);
}
