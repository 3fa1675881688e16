import { streamText } from 'ai';
import * as kit from 'ai/test';
import { toolyardTools } from '#client/ai-sdk';
import { calls, client, mcp, report, sessionId, signal } from './agent.fixture.mjs';

const count = { total: 1 };
const usage = { inputTokens: count, outputTokens: count };
const answer = (parts, unified) => ({
  stream: new ReadableStream({
    start(controller) {
      for (const part of [
        { type: 'stream-start', warnings: [] },
        ...parts,
        { type: 'finish', finishReason: { unified, raw: undefined }, usage },
      ])
        controller.enqueue(part);
      controller.close();
    },
  }),
});
const text = [
  { type: 'text-start', id: 't' },
  { type: 'text-delta', id: 't', delta: 'done' },
  { type: 'text-end', id: 't' },
];
const script = [
  () =>
    answer(
      calls.map(({ id, name, input }) => ({ type: 'tool-call', toolCallId: id, toolName: name, input: JSON.stringify(input) })),
      'tool-calls',
    ),
  () => answer(text, 'stop'),
];
const Model = kit.MockLanguageModelV4 ?? kit.MockLanguageModelV3;
const requests = [];
const model = new Model({ doStream: async (request) => script[requests.push(request) - 1]() });

const server = mcp && (await (await import('@ai-sdk/mcp')).createMCPClient({ transport: { type: 'http', ...mcp } }));
const tools = server === undefined ? await toolyardTools(client, { sessionId }) : await server.tools();
const run = streamText({ model, prompt: 'Go.', tools, abortSignal: signal, stopWhen: ({ steps }) => steps.length > 1, onError: () => {} });
const preliminary = [];
for await (const part of run.fullStream) if (part.type === 'tool-result' && part.preliminary === true) preliminary.push(part.output);
const read = (requests[1]?.prompt ?? [])
  .flatMap(({ role, content }) => (role === 'tool' ? content : []))
  .map(({ toolCallId, output }) => ({
    id: toolCallId,
    text: typeof output.value === 'string' ? output.value : JSON.stringify(output.value),
    isError: output.type.startsWith('error'),
  }));
await server?.close();
report({ offered: requests[0]?.tools, read, preliminary, aborted: signal.aborted });
