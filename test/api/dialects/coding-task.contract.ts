import { randomInt } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { WebSocket } from 'ws';
import { ToolCallAccumulator, ToolyardClient } from '#client';
import { runChatToolCalls, type ChatReply } from '#client/openai';
import { startModelServer, type ModelServer } from '../../support/model-server.js';
import type { DialectInstallation } from './speaker.js';

/** `args` may depend on all that the model has read. */
type Step = readonly [tool: string, args: unknown, reads: RegExp];

/** Coding task in the steps of a model trained on the agent: writes a program, sees it fail, corrects it from the error, sees it pass. */
const FAULTY = `import { readFileSync } from 'node:fs';
const right = Number(readFileSync('right.txt', 'utf8'));
const guess = 0;
console.log(guess === right ? 'pass' : \`fail: it is \${right}\`);
`;
const mended = (read: string) => `guess = ${/fail: it is (\d+)/.exec(read)?.[1]}`;
const TASKS: Readonly<Record<string, readonly Step[]>> = {
  zeroclaw: [
    ['file_write', { path: 'app.mjs', content: FAULTY }, /^Wrote \d+ bytes to app\.mjs$/],
    ['shell', 'node app.mjs', /^fail/],
    ['file_read', { path: 'app.mjs' }, /guess = 0/],
    ['file_write', (read: string) => ({ path: 'app.mjs', content: FAULTY.replace('guess = 0', mended(read)) }), /^Wrote/],
    ['shell', { cmd: 'node app.mjs' }, /^pass/],
  ],
  phi: [
    ['write_file', { path: 'app.mjs', content: FAULTY }, /^Wrote/],
    ['bash', { command: 'node app.mjs' }, /^Exit code: 0\nfail/],
    ['search', { pattern: 'guess = ' }, /app\.mjs:3:/],
    ['edit_file', (read: string) => ({ path: 'app.mjs', old_text: 'guess = 0', new_text: mended(read) }), /^Replaced 1 line/],
    ['bash', { command: 'node app.mjs' }, /^Exit code: 0\npass/],
  ],
  oxydra: [
    ['file_write', { path: 'app.mjs', content: FAULTY }, /^wrote/],
    ['shell_exec', { command: 'node app.mjs' }, /^fail/],
    ['file_search', { path: '.', query: 'guess = ' }, /app\.mjs:3:/],
    ['file_edit', (read: string) => ({ path: 'app.mjs', old_text: 'guess = 0', new_text: mended(read) }), /^updated app\.mjs$/],
    ['shell_exec', { command: 'node app.mjs' }, /^pass/],
  ],
  kiro: [
    ['fsWrite', { command: 'create', path: 'app.mjs', content: FAULTY }, /^Successfully created/],
    ['execute_bash', { command: 'node app.mjs' }, /"stdout":"fail/],
    ['grep', { pattern: 'guess = ' }, /app\.mjs/],
    [
      'fs_write',
      (read: string) => ({ command: 'strReplace', path: 'app.mjs', oldStr: 'guess = 0', newStr: mended(read) }),
      /^Successfully replaced 1/,
    ],
    ['shell', { command: 'node app.mjs' }, /"stdout":"pass/],
  ],
  'claude-code': [
    ['write_file', { path: 'app.mjs', content: FAULTY }, /"type":"create"/],
    ['bash', { command: 'node app.mjs' }, /"stdout":"fail/],
    ['grep_search', { pattern: 'guess = ' }, /app\.mjs/],
    ['edit_file', (read: string) => ({ path: 'app.mjs', old_string: 'guess = 0', new_string: mended(read) }), /structuredPatch/],
    ['bash', { command: 'node app.mjs' }, /"stdout":"pass/],
  ],
};

/** Names in the catalog; the others above are aliases that a model knows from its training. */
const OFFERED: Readonly<Record<string, string[]>> = {
  zeroclaw: ['file_read', 'file_write', 'shell'],
  phi: ['bash', 'edit_file', 'search', 'write_file'],
  oxydra: ['file_edit', 'file_search', 'file_write', 'shell_exec'],
  kiro: ['grep', 'shell', 'write'],
  'claude-code': ['bash', 'edit_file', 'grep_search', 'write_file'],
};

/** A message of Chat Completions, as this agent sends and reads it. */
interface AssistantMessage {
  readonly role: 'assistant';
  readonly content: string;
  readonly tool_calls?: readonly { id: string; type: 'function'; function: { name: string; arguments: string } }[];
}

interface Chunk {
  readonly choices: readonly { readonly delta: Delta }[];
}

interface Delta {
  readonly content?: string;
  readonly tool_calls?: readonly { index: number; id?: string; function: { name?: string; arguments?: string } }[];
}

/** Requests an answer of a streaming model. */
async function ask(url: string, request: object): Promise<AssistantMessage> {
  const response = await fetch(`${url}/chat/completions`, { method: 'POST', body: JSON.stringify({ ...request, stream: true }) });
  const lines = (await response.text()).split('\n\n').filter((line) => line.startsWith('data: {'));
  const deltas = lines.flatMap((line) => (JSON.parse(line.slice('data: '.length)) as Chunk).choices.map(({ delta }) => delta));
  const answer = new ToolCallAccumulator();
  for (const delta of deltas) for (const call of delta.tool_calls ?? []) answer.add({ ...call, ...call.function });
  const content = deltas.map((delta) => delta.content ?? '').join('');
  const calls = answer
    .calls()
    .map(({ id, name, arguments: text }) => ({ id, type: 'function' as const, function: { name, arguments: text } }));
  return { role: 'assistant', content, ...(calls.length === 0 ? {} : { tool_calls: calls }) };
}

/** An agent as people write one: a loop around a model that asks for tools, until it asks for none. Knows nothing of dialects. */
async function runAgent(client: ToolyardClient, { url }: ModelServer, model: string, sessionId: string): Promise<string> {
  const tools = await client.tools.forModel('openai', { sessionId });
  const messages: (AssistantMessage | ChatReply)[] = [{ role: 'user', content: 'Write app.mjs and make it pass.' }];
  for (;;) {
    const message = await ask(url, { model, messages, tools });
    if (message.tool_calls === undefined) return message.content;
    messages.push(message, ...(await runChatToolCalls(client, message, { sessionId })));
  }
}

/** A model of each agent, in a session that speaks its dialect. */
export function codingTaskContract(started: DialectInstallation): void {
  describe('a model that was trained on an agent', () => {
    let models: ModelServer;
    let client: ToolyardClient;
    beforeAll(async () => {
      models = await startModelServer();
      client = new ToolyardClient({ baseUrl: started().agent.url, apiKey: started().agent.key, WebSocket });
    });
    afterAll(async () => {
      client.close();
      await models.close();
    });

    it.each(Object.keys(TASKS))('writes, runs and mends a program in the words of %s', async (dialect) => {
      const steps = TASKS[dialect] ?? [];
      const sessionId = `task-in-${dialect}`;
      await started().agent.request('PUT', `/v1/sessions/${sessionId}`, { dialect });
      const right = { path: 'right.txt', content: String(randomInt(1, 1_000_000)) };
      await started().agent.run('file_write', right, { sessionId, dialect: 'core' });
      models.on(dialect, ({ body }, n) => {
        const [before, next] = [steps[n - 1], steps[n]];
        const last = String(body.messages.at(-1).content);
        const read = body.messages.map(({ content }: { content: unknown }) => String(content)).join('\n');
        if (before !== undefined && !before[2].test(last)) return { text: `This is not what I expect of ${before[0]}: ${last}` };
        if (next === undefined) return { text: 'It passes.' };
        const [name, args] = next;
        return { toolCalls: [{ id: `call_${n}`, name, arguments: JSON.stringify(typeof args === 'function' ? args(read) : args) }] };
      });
      expect(await runAgent(client, models, dialect, sessionId)).toBe('It passes.');
      const offered = models.calls(dialect)[0]?.body.tools.map((tool: { function: { name: string } }) => tool.function.name);
      expect(offered).toEqual(expect.arrayContaining(OFFERED[dialect] ?? []));
      const { calls } = await client.calls.list({ sessionId });
      const made = await Promise.all(
        calls
          .toReversed()
          .slice(1)
          .map(({ id }) => client.calls.get(id)),
      );
      expect(made.map(({ outcome, dialect: spoken, requestedTool, tool }) => [outcome, spoken, requestedTool ?? tool])).toEqual(
        steps.map(([name]) => ['completed', dialect, name]),
      );
    });
  });
}
