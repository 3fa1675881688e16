/* An agent with the tool shapes of OpenAI's Chat Completions API. MODEL_URL names a model's server; without one a scripted model is used. */
import { z } from 'zod';
import { withToolyard } from './connect.js';
import { resultText } from './result-text.js';
import { startScriptedModel } from './scripted-model.js';

const ToolCall = z.looseObject({ id: z.string(), function: z.looseObject({ name: z.string(), arguments: z.string() }) });
const Message = z.looseObject({ role: z.literal('assistant'), content: z.string().nullable(), tool_calls: z.array(ToolCall).optional() });
const Answer = z.object({ choices: z.array(z.object({ message: Message })).min(1) });

const scripted = process.env['MODEL_URL'] ? undefined : await startScriptedModel();
const modelUrl = process.env['MODEL_URL'] ?? scripted?.url ?? '';

await withToolyard(async (toolyard) => {
  const sessionId = `example-${Date.now()}`;
  const tools = await toolyard.tools.forModel('openai', { sessionId });
  const messages: unknown[] = [{ role: 'user', content: 'Write a short poem into poem.txt and tell me how many lines it has.' }];

  for (;;) {
    const response = await fetch(`${modelUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${process.env['MODEL_KEY'] ?? 'none'}` },
      body: JSON.stringify({ model: process.env['MODEL'] ?? 'scripted', tools, messages }),
    });
    const [choice] = Answer.parse(await response.json()).choices;
    if (choice === undefined) break;
    const { message } = choice;
    messages.push(message);
    if (message.content !== null) console.log(`model: ${message.content}`);
    if (message.tool_calls === undefined || message.tool_calls.length === 0) break;

    // All calls of the turn in one batch. Arguments go on as the text that the model wrote: Toolyard parses and checks them.
    const calls = message.tool_calls.map(({ id, function: called }) => ({
      tool: called.name,
      arguments: called.arguments,
      toolCallId: id,
    }));
    const batch = await toolyard.batches.run({ sessionId, strategy: { type: 'tiered' }, calls });
    for (const [index, call] of message.tool_calls.entries()) {
      const result = batch.results[index];
      const text = result === undefined ? 'not run' : resultText(result);
      console.log(`${call.function.name}: ${text.trim()}`);
      messages.push({ role: 'tool', tool_call_id: call.id, content: text });
    }
    // Messages of people in the meantime (`toolyard steer`); the batch contains each once.
    for (const said of batch.steering) messages.push({ role: 'user', content: said.message });
  }
});
scripted?.close();
