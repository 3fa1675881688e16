import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import type { ToolDescriptor } from '#contracts';
import type { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { startModelServer, type ModelServer } from '../support/model-server.js';
import { textOf } from '../support/policy-case.js';
import { startTestCluster, TEST_KEY, type TestCluster } from '../support/test-cluster.js';

const MODEL_KEY = 'key-of-the-model-in-the-examples';

describe('the examples of sources, as they are shipped', () => {
  let models: ModelServer;
  let toolyard: TestCluster;
  let agent: Agent;
  let python: ChildProcess;
  beforeAll(async () => {
    models = await startModelServer();
    const { sources } = parse(readFileSync('apps/examples/sub-agent.yaml', 'utf8')) as { sources: { model: object }[] };
    // The same model at another address.
    const here = sources.map((source) => ({ ...source, model: { ...source.model, url: models.url } }));
    toolyard = await startTestCluster({ config: { sources: here }, env: { MODEL_KEY } });
    ({ agent } = toolyard);
    const env = { PATH: process.env['PATH'], TOOLYARD_URL: toolyard.gateways[0]?.url, TOOLYARD_API_KEY: TEST_KEY };
    python = spawn('python3', ['apps/examples/src/worker.py'], { env, stdio: ['ignore', 'inherit', 'inherit'] });
    const tools = async () => (await agent.get<{ tools: ToolDescriptor[] }>('/v1/tools')).body.tools.map(({ name }) => name);
    const wanted = ['word_count', 'slow_count', 'word_counts', 'greet', 'researcher'];
    await eventually(async () => {
      if (python.exitCode !== null) throw new Error(`worker.py ended with ${python.exitCode}`);
      const names = await tools();
      return wanted.every((name) => names.includes(name));
    }, 'the tools of the examples');
  });
  afterAll(async () => {
    python?.kill('SIGKILL');
    await toolyard?.close();
    await models?.close();
  });

  it('runs the sub-agent of the examples, which reads a file of the session and answers', async () => {
    await agent.run('file_write', { path: 'plan.md', content: 'Ship on Friday.\n' }, { sessionId: 'asked' });
    models.on('gpt-4.1-mini', [
      { toolCalls: [{ id: 'read', name: 'file_read', arguments: { path: 'plan.md' } }] },
      { text: 'It ships on Friday.' },
    ]);
    const answer = await agent.run('researcher', { task: 'When does it ship?' }, { sessionId: 'asked' });
    expect([answer.outcome, textOf(answer)]).toEqual(['completed', expect.stringMatching(/\nIt ships on Friday\.$/)]);
    const [first, second] = models.calls('gpt-4.1-mini');
    expect(first?.headers.authorization).toBe(`Bearer ${MODEL_KEY}`);
    expect(JSON.stringify(second?.body.messages)).toContain('Ship on Friday.');
  });

  it('runs the tools of the worker in Python of the examples: results, steps, calls of their own, and a question', async () => {
    const counted = await agent.run('word_count', { text: 'one two\nthree' });
    expect(counted.result?.structuredContent).toEqual({ words: 3, lines: 2 });
    const slow = await agent.run('slow_count', { to: 2, stepMs: 1 });
    expect(textOf(slow)).toContain('counted to 2');
    expect((await agent.events(slow.id)).map(({ type }) => type)).toEqual(expect.arrayContaining(['call.update', 'call.progress']));
    const several = await agent.run('word_counts', { texts: ['one two', 'three'] });
    expect(textOf(several)).toContain('[{"words": 2, "lines": 1}, {"words": 1, "lines": 1}]');

    const { id } = await agent.accepted('greet', {});
    await eventually(async () => (await agent.get(`/v1/calls/${id}`)).body.status === 'waiting_input', 'the question');
    await agent.request('POST', `/v1/calls/${id}/input`, { value: 'Ada' });
    expect(textOf(await agent.ended(id))).toContain('Hello Ada!');

    python.kill('SIGTERM');
    const [code] = (await once(python, 'exit')) as [number | null];
    expect(code).toBe(0);
  });
});
