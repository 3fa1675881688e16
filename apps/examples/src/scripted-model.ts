import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { z } from 'zod';

/** Turn of the scripted model. */
interface Turn {
  readonly says: string;
  readonly calls: readonly { readonly id: string; readonly name: string; readonly input: Readonly<Record<string, unknown>> }[];
}

/** Writes a file, lists the folder, makes a mistake in an argument, corrects it, and reports what it read. */
const SCRIPT: readonly Turn[] = [
  {
    says: 'I write the poem and look what day it is.',
    calls: [
      { id: 'call_1', name: 'file_write', input: { path: 'poem.txt', content: 'roses are red\nviolets are blue\n' } },
      { id: 'call_2', name: 'shell', input: { command: 'echo today is $(date +%A)' } },
    ],
  },
  { says: 'Now I count its lines.', calls: [{ id: 'call_3', name: 'shell', input: { comand: 'wc -l < poem.txt' } }] },
  { says: 'The argument is called command.', calls: [{ id: 'call_4', name: 'shell', input: { command: 'wc -l < poem.txt' } }] },
];

const Request = z.object({
  messages: z.array(z.object({ role: z.string(), content: z.unknown() })).min(1),
  tools: z.array(z.unknown()).min(1),
});

/**
 * A model that needs no network: an HTTP server that answers as the Messages API of Anthropic (`/v1/messages`) and the Chat
 * Completions API of OpenAI (`/v1/chat/completions`) do, one turn of the script for each answer the assistant has given,
 * and at the end repeats the last tool's result.
 */
export async function startScriptedModel(): Promise<{ readonly url: string; close(): void }> {
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const { messages } = Request.parse(JSON.parse(body));
      const turn = SCRIPT[messages.filter(({ role }) => role === 'assistant').length] ?? lastWord(messages.at(-1)?.content);
      const answer = request.url === '/v1/messages' ? asAnthropic(turn) : asOpenAi(turn);
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the scripted model has no port');
  return { url: `http://127.0.0.1:${address.port}`, close: () => server.close() };
}

function lastWord(content: unknown): Turn {
  const [digits = 'an unknown number of'] = /\d+(?=\D*$)/.exec(JSON.stringify(content)) ?? [];
  return { says: `The poem has ${digits} lines.`, calls: [] };
}

function asAnthropic({ says, calls }: Turn) {
  const uses = calls.map(({ id, name, input }) => ({ type: 'tool_use', id, name, input }));
  return { role: 'assistant', content: [{ type: 'text', text: says }, ...uses], stop_reason: uses.length > 0 ? 'tool_use' : 'end_turn' };
}

function asOpenAi({ says, calls }: Turn) {
  const tool_calls = calls.map(({ id, name, input }) => ({ id, type: 'function', function: { name, arguments: JSON.stringify(input) } }));
  const message = { role: 'assistant', content: says, ...(tool_calls.length > 0 ? { tool_calls } : {}) };
  return { choices: [{ index: 0, message, finish_reason: tool_calls.length > 0 ? 'tool_calls' : 'stop' }] };
}
