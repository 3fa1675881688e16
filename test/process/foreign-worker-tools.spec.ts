import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { ToolyardWorker, workerTool } from '#client/worker';
import type { ApiKeyConfig, ToolDescriptor } from '#contracts';
import type { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { ADD, ScriptedWorker } from '../support/foreign-worker.js';
import { BOOTSTRAP_KEY, startTestGateway, type TestGateway } from '../support/gateway.js';

const WORK_KEY = 'key-of-a-worker-with-tools-12';
const keys: ApiKeyConfig[] = [
  { id: 'all', key: BOOTSTRAP_KEY, tenant: 'tools', scopes: ['submit', 'read', 'cancel'], tools: ['*'] },
  { id: 'works', key: WORK_KEY, tenant: 'tools', scopes: ['work'] },
];

let gateway: TestGateway;
let agent: Agent;
const open: ScriptedWorker[] = [];
const toolNames = async () => (await agent.get<{ tools: ToolDescriptor[] }>('/v1/tools')).body.tools.map(({ name }) => name);

beforeAll(async () => {
  gateway = await startTestGateway('worker-tools', { keys });
  agent = gateway.agent;
});
afterEach(async () => {
  for (const worker of open.splice(0)) worker.close();
  await eventually(async () => !(await toolNames()).includes('add'), 'the tools of gone workers to vanish');
});
afterAll(() => gateway.close());

it.each([
  ['over long polls', {}],
  ['over a WebSocket', { WebSocket }],
])('accepts results with more parts than agents’ requests may have %s, and fails calls with too large ones', async (_how, transport) => {
  const add = workerTool({
    name: 'add',
    description: 'Lists numbers.',
    input: z.strictObject({ items: z.number().default(0), members: z.number().default(0) }),
    run: ({ items, members }) => ({
      content: [],
      structuredContent: {
        list: Array.from({ length: items }, () => 1),
        object: Object.fromEntries(Array.from({ length: members }, (_, n) => [n, 1])),
      },
    }),
  });
  const worker = new ToolyardWorker({
    baseUrl: gateway.url,
    apiKey: WORK_KEY,
    name: 'lists',
    tools: [add],
    slots: 2,
    ...transport,
  });
  const run = worker.run();
  try {
    await eventually(async () => (await toolNames()).includes('add'), 'the tool');
    const sizes = [{ items: 30_000 }, { items: 101_000 }, { members: 25_001 }];
    const ids = await Promise.all(sizes.map(async (size) => (await agent.accepted('add', size)).id));
    const ended = await Promise.all(ids.map((id) => agent.ended(id)));
    const said = expect.stringContaining('expected at most 1048576 bytes and 100000 members and items, 25000 in one object');
    expect(ended.map(({ outcome, error }) => [outcome, error?.message])).toEqual([
      ['completed', undefined],
      ['failed', said],
      ['failed', said],
    ]);
  } finally {
    worker.stop();
    await run;
  }
});

it('keeps the tools of a worker that connects while those of its source’s former workers are withdrawn', async () => {
  const leaving = async () => {
    open.push(await ScriptedWorker.ready(gateway.url, WORK_KEY, 'leaving', [ADD], 1));
    return open.at(-1)!;
  };
  const [first, second] = [await leaving(), await leaving()];
  first.close();
  // The first is withdrawn a second after it left, when the second has left, too.
  for (const until = Date.now() + 700; Date.now() < until;) await toolNames();
  second.close();
  await eventually(async () => !(await toolNames()).includes('add'), 'the tools of both to vanish');
  const third = await leaving();
  for (const until = Date.now() + 1_500; Date.now() < until;) expect(await toolNames()).toContain('add');
  const { id } = await agent.accepted('add', { a: 1, b: 2 });
  third.finish(await third.next('call'), '3');
  expect((await agent.ended(id)).outcome).toBe('completed');
});
