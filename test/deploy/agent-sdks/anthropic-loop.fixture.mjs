import Anthropic from '@anthropic-ai/sdk';
import { runToolUses } from '#client/anthropic';
import { calls, client, report, sessionId, signal } from './agent.fixture.mjs';
import { startModel } from './model.fixture.mjs';

const answer = {
  id: 'msg_0',
  type: 'message',
  role: 'assistant',
  model: 'scripted',
  stop_sequence: null,
  usage: { input_tokens: 1, output_tokens: 1 },
};
const uses = calls.map(({ id, name, input }) => ({ type: 'tool_use', id, name, input }));
const model = await startModel([{ ...answer, stop_reason: 'tool_use', content: uses }]);
const anthropic = new Anthropic({ baseURL: model.url, apiKey: 'none' });

const tools = await client.tools.forModel('anthropic', { sessionId });
const { content } = await anthropic.messages.create({
  model: 'scripted',
  max_tokens: 100,
  messages: [{ role: 'user', content: 'Go.' }],
  tools,
});
const results = await runToolUses(client, content, { sessionId, signal }).catch((error) => {
  if (!signal.aborted) throw error;
  return [];
});
const read = results.map(({ tool_use_id, content: blocks, is_error }) => ({
  id: tool_use_id,
  text: blocks.map(({ text }) => text).join('\n'),
  isError: is_error,
}));
model.close();
report({ offered: model.requests[0]?.tools, read, aborted: signal.aborted });
