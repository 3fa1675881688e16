import { Agent, MCPServerStreamableHttp, run, setTracingDisabled, Usage } from '@openai/agents';
import { toolyardTools } from '#client/openai-agents';
import { calls, client, mcp, report, sessionId, signal } from './agent.fixture.mjs';

setTracingDisabled(true);
const script = [
  calls.map(({ id, name, input }) => ({ type: 'function_call', callId: id, name, arguments: JSON.stringify(input), status: 'completed' })),
  [{ type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: 'done' }] }],
];
const requests = [];
const model = { getResponse: async (request) => ({ usage: new Usage(), output: script[requests.push(request) - 1] }) };

const server = mcp && new MCPServerStreamableHttp({ name: 'toolyard', url: mcp.url, requestInit: { headers: mcp.headers } });
await server?.connect();
const offered = server === undefined ? { tools: await toolyardTools(client, { sessionId }) } : { mcpServers: [server] };
await run(new Agent({ name: 'scripted', model, ...offered }), 'Go.', { signal }).catch((error) => {
  if (!signal.aborted) throw error;
});
const read = (requests[1]?.input ?? [])
  .filter(({ type }) => type === 'function_call_result')
  .map(({ callId, output }) => ({ id: callId, text: typeof output === 'string' ? output : (output.text ?? JSON.stringify(output)) }));
await server?.close();
report({ offered: requests[0]?.tools, read, aborted: signal.aborted });
