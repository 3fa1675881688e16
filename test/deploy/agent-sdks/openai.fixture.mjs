import OpenAI from 'openai';
import { runChatToolCalls, runResponsesToolCalls } from '#client/openai';
import { calls, client, report, sessionId, signal } from './agent.fixture.mjs';
import { startModel } from './model.fixture.mjs';

const half = Math.ceil(calls.length / 2);
const tool_calls = calls
  .slice(0, half)
  .map(({ id, name, input }) => ({ id, type: 'function', function: { name, arguments: JSON.stringify(input) } }));
const output = calls.slice(half).map(({ id, name, input }) => ({
  type: 'function_call',
  id: `fc_${id}`,
  call_id: id,
  name,
  arguments: JSON.stringify(input),
  status: 'completed',
}));
const model = await startModel([
  {
    id: 'chat_0',
    object: 'chat.completion',
    created: 0,
    model: 'scripted',
    choices: [{ index: 0, finish_reason: 'tool_calls', message: { role: 'assistant', content: null, tool_calls } }],
  },
  { id: 'resp_0', object: 'response', created_at: 0, model: 'scripted', status: 'completed', output },
]);
const openai = new OpenAI({ baseURL: model.url, apiKey: 'none' });
const unlessAborted = (error) => {
  if (!signal.aborted) throw error;
  return [];
};

const chat = await openai.chat.completions.create({
  model: 'scripted',
  messages: [{ role: 'user', content: 'Go.' }],
  tools: await client.tools.forModel('openai', { sessionId }),
});
const messages = await runChatToolCalls(client, chat.choices[0].message, { sessionId, signal }).catch(unlessAborted);
const response = await openai.responses.create({
  model: 'scripted',
  input: 'Go.',
  tools: await client.tools.forModel('openai-responses', { sessionId }),
});
const items = await runResponsesToolCalls(client, response.output, { sessionId, signal }).catch(unlessAborted);
const read = [
  ...messages.map(({ tool_call_id, content }) => ({ id: tool_call_id, text: content })),
  ...items.map(({ call_id, output: text }) => ({ id: call_id, text })),
];
model.close();
report({ offered: model.requests[0].tools.map(({ function: { name } }) => ({ name })), read, aborted: signal.aborted });
