/* An agent with the tool shapes of Anthropic's Messages API. MODEL_URL names a model's server; without one a scripted model is used. */
import { z } from 'zod';
import { withToolyard } from './connect.js';
import { resultText } from './result-text.js';
import { startScriptedModel } from './scripted-model.js';

const TextBlock = z.looseObject({ type: z.literal('text'), text: z.string() });
const ToolUse = z.looseObject({ type: z.literal('tool_use'), id: z.string(), name: z.string(), input: z.record(z.string(), z.json()) });
const Answer = z.object({ content: z.array(z.discriminatedUnion('type', [TextBlock, ToolUse])), stop_reason: z.string() });

const scripted = process.env['MODEL_URL'] ? undefined : await startScriptedModel();
const modelUrl = process.env['MODEL_URL'] ?? scripted?.url ?? '';

await withToolyard(async (toolyard) => {
  const sessionId = `example-${Date.now()}`;
  const tools = await toolyard.tools.forModel('anthropic', { sessionId });
  const messages: unknown[] = [{ role: 'user', content: 'Write a short poem into poem.txt and tell me how many lines it has.' }];

  for (;;) {
    const response = await fetch(`${modelUrl}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': process.env['MODEL_KEY'] ?? 'none', 'anthropic-version': '2023-06-01' },
      body: JSON.stringify({ model: process.env['MODEL'] ?? 'scripted', max_tokens: 1024, tools, messages }),
    });
    const { content, stop_reason } = Answer.parse(await response.json());
    messages.push({ role: 'assistant', content });
    for (const block of content) if (block.type === 'text') console.log(`model: ${block.text}`);
    if (stop_reason !== 'tool_use') break;

    // All calls of the turn in one batch: reads run together, the rest in order, and a lost answer is safe to ask for again.
    const uses = content.filter((block) => block.type === 'tool_use');
    const calls = uses.map(({ id, name, input }) => ({ tool: name, arguments: input, toolCallId: id }));
    const batch = await toolyard.batches.run({ sessionId, strategy: { type: 'tiered' }, calls });
    const results = uses.map((use, index) => {
      const result = batch.results[index];
      const text = result === undefined ? 'not run' : resultText(result);
      console.log(`${use.name}: ${text.trim()}`);
      return {
        type: 'tool_result',
        tool_use_id: use.id,
        content: text,
        is_error: result?.outcome !== 'completed' || result.result?.isError === true,
      };
    });
    // Messages of people in the meantime (`toolyard steer`); the batch contains each once.
    const said = batch.steering.map(({ message }) => ({ type: 'text', text: message }));
    messages.push({ role: 'user', content: [...results, ...said] });
  }
});
scripted?.close();
