import Anthropic from '@anthropic-ai/sdk';
import { ToolError } from '@anthropic-ai/sdk/lib/tools/ToolError';
import { toolyardTools } from '#client/anthropic';
import { calls, client, report, sessionId, signal } from './agent.fixture.mjs';
import { startModel } from './model.fixture.mjs';

const model = await startModel(
  [
    { stop_reason: 'tool_use', content: calls.map(({ id, name, input }) => ({ type: 'tool_use', id, name, input })) },
    { stop_reason: 'end_turn', content: [{ type: 'text', text: 'done' }] },
  ].map((answer, n) => ({
    id: `msg_${n}`,
    type: 'message',
    role: 'assistant',
    model: 'scripted',
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 1 },
    ...answer,
  })),
);
const anthropic = new Anthropic({ baseURL: model.url, apiKey: 'none' });

const tools = await toolyardTools(client, { sessionId, ToolError });
const messages = [{ role: 'user', content: 'Go.' }];
await anthropic.beta.messages
  .toolRunner({ model: 'scripted', max_tokens: 100, messages, tools }, { signal })
  .runUntilDone()
  .catch((error) => {
    if (!signal.aborted) throw error;
  });
const read = (model.requests[1]?.messages.at(-1).content ?? []).map(({ tool_use_id, content, is_error = false }) => ({
  id: tool_use_id,
  text: content.map(({ text }) => text).join('\n'),
  isError: is_error,
}));
model.close();
report({ offered: model.requests[0]?.tools, read, aborted: signal.aborted });
