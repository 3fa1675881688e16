import { Agent, run, setTracingDisabled, Usage } from '@openai/agents';
import { toolyardTools } from '#client/openai-agents';
import { calls, client, report, sessionId, signal } from './agent.fixture.mjs';

setTracingDisabled(true);
const script = [
  calls.map(({ id, name, input }) => ({ type: 'function_call', callId: id, name, arguments: JSON.stringify(input), status: 'completed' })),
  [{ type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: 'done' }] }],
];
const requests = [];
const model = { getResponse: async (request) => ({ usage: new Usage(), output: script[requests.push(request) - 1] }) };

const tools = await toolyardTools(client, { sessionId });
await run(new Agent({ name: 'scripted', model, tools }), 'Go.', { signal }).catch((error) => {
  if (!signal.aborted) throw error;
});
const read = (requests[1]?.input ?? [])
  .filter(({ type }) => type === 'function_call_result')
  .map(({ callId, output }) => ({ id: callId, text: typeof output === 'string' ? output : output.text }));
report({ offered: requests[0]?.tools, read, aborted: signal.aborted });
