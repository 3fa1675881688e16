import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { WebSocket } from 'ws';
import { ToolCallAccumulator, ToolyardClient } from '#client';
import { runChatToolCalls, type ChatReply } from '#client/openai';
import { startModelServer, type ModelServer } from '../../support/model-server.js';
import type { DialectInstallation } from './speaker.js';

type Step = readonly [tool: string, args: unknown, reads: RegExp];

/** What a model trained on the agent does: writes a program, sees it fail, finds and mends the fault, sees it pass. */
const FAULTY = 'console.log(1 + 1 === 3 ? "pass" : "fail");\n';
const TASKS: Readonly<Record<string, readonly Step[]>> = {
  zeroclaw: [
    ['file_write', { path: 'app.mjs', content: FAULTY }, /^Wrote \d+ bytes to app\.mjs$/],
    ['shell', 'node app.mjs', /^fail/],
    ['file_read', { path: 'app.mjs' }, /=== 3/],
    ['file_write', { path: 'app.mjs', content: FAULTY.replace('3', '2') }, /^Wrote/],
    ['shell', { cmd: 'node app.mjs' }, /^pass/],
  ],
  phi: [
    ['write_file', { path: 'app.mjs', content: FAULTY }, /^Wrote/],
    ['bash', { command: 'node app.mjs' }, /^Exit code: 0\nfail/],
    ['search', { pattern: '=== 3' }, /app\.mjs:1:/],
    ['edit_file', { path: 'app.mjs', old_text: '=== 3', new_text: '=== 2' }, /^Replaced 1 line/],
    ['bash', { command: 'node app.mjs' }, /^Exit code: 0\npass/],
  ],
  oxydra: [
    ['file_write', { path: 'app.mjs', content: FAULTY }, /^wrote/],
    ['shell_exec', { command: 'node app.mjs' }, /^fail/],
    ['file_search', { path: '.', query: '=== 3' }, /app\.mjs:1:/],
    ['file_edit', { path: 'app.mjs', old_text: '=== 3', new_text: '=== 2' }, /^updated app\.mjs$/],
    ['shell_exec', { command: 'node app.mjs' }, /^pass/],
  ],
  kiro: [
    ['fsWrite', { command: 'create', path: 'app.mjs', content: FAULTY }, /^Successfully created/],
    ['execute_bash', { command: 'node app.mjs' }, /"stdout":"fail/],
    ['grep', { pattern: '=== 3' }, /app\.mjs/],
    ['fs_write', { command: 'strReplace', path: 'app.mjs', oldStr: '=== 3', newStr: '=== 2' }, /^Successfully replaced 1/],
    ['shell', { command: 'node app.mjs' }, /"stdout":"pass/],
  ],
  'claude-code': [
    ['write_file', { path: 'app.mjs', content: FAULTY }, /"type":"create"/],
    ['bash', { command: 'node app.mjs' }, /"stdout":"fail/],
    ['grep_search', { pattern: '=== 3' }, /app\.mjs/],
    ['edit_file', { path: 'app.mjs', old_string: '=== 3', new_string: '=== 2' }, /structuredPatch/],
    ['bash', { command: 'node app.mjs' }, /"stdout":"pass/],
  ],
};

/** Of the names above, those that a catalog shows; the others are aliases that a model knows from its training. */
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

/** One answer of a model that streams. */
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
      models.on(dialect, ({ body }, n) => {
        const [before, next] = [steps[n - 1], steps[n]];
        const last = String(body.messages.at(-1).content);
        if (before !== undefined && !before[2].test(last)) return { text: `This is not what I expect of ${before[0]}: ${last}` };
        if (next === undefined) return { text: 'It passes.' };
        return { toolCalls: [{ id: `call_${n}`, name: next[0], arguments: JSON.stringify(next[1]) }] };
      });
      expect(await runAgent(client, models, dialect, sessionId)).toBe('It passes.');
      const offered = models.calls(dialect)[0]?.body.tools.map((tool: { function: { name: string } }) => tool.function.name);
      expect(offered).toEqual(expect.arrayContaining(OFFERED[dialect] ?? []));
      const { calls } = await client.calls.list({ sessionId });
      const made = await Promise.all(calls.toReversed().map(({ id }) => client.calls.get(id)));
      expect(made.map(({ outcome, dialect: spoken, requestedTool, tool }) => [outcome, spoken, requestedTool ?? tool])).toEqual(
        steps.map(([name]) => ['completed', dialect, name]),
      );
    });
  });
}
