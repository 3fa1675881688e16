import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Source, WorkerStatus } from '#contracts';
import { accessibilityFaults } from '../../support/browser.js';
import { dashboardHarness } from '../../support/dashboard-harness.js';
import { eventually } from '../../support/eventually.js';
import { ADD, ScriptedWorker } from '../../support/foreign-worker.js';
import { startModelServer, type ModelServer } from '../../support/model-server.js';
import { serveWeb, type WebServer } from '../../support/serve-web.js';
import { TEST_KEY } from '../../support/test-cluster.js';

/** A WAV file without a sample. */
const SILENCE = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=';

let models: ModelServer;
let speaker: WebServer;
const stage = dashboardHarness(async () => {
  models = await startModelServer();
  const define = (name: string, more: object) => ({
    kind: 'agent',
    name,
    tier: 'read_only',
    system: `You are ${name}.`,
    model: { provider: 'openai-compatible', name, url: models.url },
    ...more,
  });
  return {
    sources: [
      define('boss', { tools: ['echo', 'helper'], maxDepth: 2, budgets: { tokens: 1_000, calls: 5 } }),
      define('helper', { tools: ['echo'] }),
    ],
  };
});

beforeAll(async () => {
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: 'speaker', version: '1.0.0' });
    server.registerTool('say', { description: 'Says it.', inputSchema: z.object({ kind: z.string() }) }, ({ kind }) => ({
      content: [{ type: 'audio', data: SILENCE, mimeType: kind }],
    }));
    return server;
  });
  speaker = await serveWeb((request) => handler.fetch(request));
});
afterAll(async () => {
  speaker?.close();
  await models?.close();
});

const sourceIs = (name: string) =>
  eventually(async () => (await stage.agent.get<Source>(`/v1/sources/${name}`)).body.status === 'ok', `${name} to be offered`);

describe('the run of a sub-agent', () => {
  it('shows turns of a sub-agent with tokens, text and calls, budgets used, messages of people, and the tree', async () => {
    await sourceIs('boss');
    await sourceIs('helper');
    const ask = (id: string, name: string, args: object) => ({ id, name, arguments: args });
    models.on('boss', [
      {
        text: 'First\u202E I look.',
        toolCalls: [ask('a', 'echo', { text: 'one' }), ask('b', 'helper', { task: 'count' })],
        usage: { input: 100, output: 20 },
      },
      { text: 'It is done.', usage: { input: 200, output: 30 } },
    ]);
    models.on('helper', [
      { toolCalls: [ask('c', 'echo', { text: 'two' })], usage: { input: 40, output: 5 } },
      { text: 'Two.', usage: { input: 50, output: 5 } },
    ]);
    await stage.agent.request('POST', '/v1/sessions/run/steer', { message: 'Be quick' });
    const { id } = await stage.agent.run('boss', { task: 'Do it' }, { sessionId: 'run' });
    const page = await stage.open(`/calls/${id}`);
    const first = page.locator('[data-turn="1"]');
    await first.getByText('100 tokens read, 20 written').waitFor();
    await first.getByText('A message of a person to the session came with this request.').waitFor();
    await first.getByText('I look.').waitFor();
    await first.locator('[data-call] [data-state=completed]').nth(1).waitFor();
    for (const [at, tool] of ['echo', 'helper'].entries()) await first.locator('[data-call]').nth(at).getByText(tool).first().waitFor();
    await page.locator('[data-turn="2"]').getByText('It is done.').waitFor();
    await page.locator('[data-budget=Tokens]').getByText('450 of 1,000').waitFor();
    await page.locator('[data-budget=Calls]').getByText('3 of 5').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('tab', { name: 'Tree' }).click();
    await page.waitForURL(/tab=tree/);
    await page.locator('[data-depth="2"]').getByText('echo').waitFor();
    const depths = (rows: { dataset: { depth: string } }[]) => rows.map(({ dataset }) => dataset.depth).join();
    await eventually(async () => (await page.locator('[data-depth]').evaluateAll(depths)) === '0,1,1,2', 'the whole tree');
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.setViewportSize({ width: 375, height: 812 });
    expect(await accessibilityFaults(page)).toEqual([]);
    await eventually(async () => (await page.evaluate<number>('document.documentElement.scrollWidth')) <= 375, 'the page to fit a phone');
  });
});

describe('the run of a sub-agent that was removed', () => {
  it('shows turns of a removed sub-agent without a request for its definition', async () => {
    const { agent } = stage;
    const model = { provider: 'openai-compatible', name: 'gone', url: models.url };
    await agent.request('POST', '/v1/sources', { kind: 'agent', name: 'gone', system: 'You are gone.', model, tools: ['echo'] });
    await sourceIs('gone');
    models.on('gone', [{ text: 'It is done.', usage: { input: 200, output: 30 } }]);
    const { id } = await agent.run('gone', { task: 'Do it' });
    await agent.request('DELETE', '/v1/sources/gone');
    const hasTool = async () =>
      (await agent.get<{ tools: { name: string }[] }>('/v1/tools')).body.tools.some(({ name }) => name === 'gone');
    await eventually(async () => !(await hasTool()), 'the tool to leave the catalog');
    const page = await stage.open('/live');
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await page.goto(`${stage.url}/calls/${id}`);
    await page.locator('[data-turn="1"]').getByText('It is done.').waitFor();
    // The scopes of the key are known.
    await page.getByRole('tab', { name: 'Debug' }).waitFor();
    expect(asked).toContain(`/v1/calls/${id}`);
    expect(asked).not.toContain('/v1/sources/gone');
  });
});

describe('a call that waits for input', () => {
  const asked = async (args: object) => {
    const { body } = await stage.agent.submit('ask_user', args);
    await eventually(async () => (await stage.agent.get(`/v1/calls/${body.id}`)).body.status === 'waiting_input', 'the question');
    return body.id;
  };

  it('shows the question of a call that waits for input, offers its choices, and continues with the answer', async () => {
    const id = await asked({ question: 'Which branch?', options: ['main', 'next'] });
    const page = await stage.open(`/calls/${id}`);
    await page.locator('main [data-state=waiting_input]').first().waitFor();
    await page.getByRole('alert', { name: 'The tool asks for input' }).getByText('Which branch?').waitFor();
    await page.getByRole('button', { name: 'Answer', disabled: true }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('combobox', { name: 'Answer' }).click();
    await page.getByRole('option', { name: 'next' }).click();
    await page.getByRole('button', { name: 'Answer' }).click();
    await page.locator('main [data-state=completed]').first().waitFor();
    expect(JSON.stringify((await stage.agent.ended(id)).result?.content)).toContain('next');
  });

  it('accepts a text for a call that waits for input, also when another client was faster', async () => {
    const id = await asked({ question: 'Why?' });
    const page = await stage.open(`/calls/${id}`);
    await page.getByRole('textbox', { name: 'Answer' }).fill('because');
    await stage.agent.request('POST', `/v1/calls/${id}/input`, { value: 'sooner' });
    await page.getByRole('textbox', { name: 'Answer' }).waitFor({ state: 'detached' });
    await page.locator('main [data-state=completed]').first().waitFor();
  });
});

describe('a call that waits for an object', () => {
  it('shows a field for each property that a tool asks for, and sends an answer that fits', async () => {
    const worker = await ScriptedWorker.ready(stage.url, TEST_KEY, 'asking', [ADD], 2);
    const { id } = (await stage.agent.submit('add', { a: 1, b: 2 })).body;
    const { callId, fence } = await worker.next('call');
    const inputSchema = {
      type: 'object',
      properties: {
        branch: { type: 'string', enum: ['main', 'next'], description: 'Where the release begins.' },
        force: { type: 'boolean' },
        note: { type: 'string' },
      },
      required: ['branch'],
    };
    worker.send({ op: 'suspend', callId, fence, until: 'input', prompt: 'Which branch?', inputSchema, state: 1 });
    const page = await stage.open(`/calls/${id}`);
    const question = page.getByRole('alert', { name: 'The tool asks for input' });
    await question.getByText('Where the release begins.').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await question.getByRole('button', { name: 'Answer' }).click();
    await question.getByText('is needed').first().waitFor();
    await question.getByRole('combobox', { name: 'branch' }).click();
    await page.getByRole('option', { name: 'next' }).click();
    await question.getByRole('checkbox', { name: 'force' }).check();
    await question.getByRole('textbox', { name: 'note' }).fill('x');
    await question.getByRole('textbox', { name: 'note' }).fill('');
    await question.getByRole('button', { name: 'Answer' }).click();
    const resumed = await worker.next('call');
    expect(resumed).toMatchObject({ callId, resumed: { reason: 'input', input: { branch: 'next', force: true } } });
    worker.finish(resumed, 'done');
    await stage.agent.ended(id);
    worker.close();
  });
});

describe('audio of a tool', () => {
  it('plays audio of a tool only on request, and only of kinds that browsers know', async () => {
    await stage.agent.request('POST', '/v1/sources', { name: 'speaker', kind: 'mcp', url: `${speaker.url}/mcp` });
    await sourceIs('speaker');
    const { id } = await stage.agent.run('say', { kind: 'audio/wav' });
    const page = await stage.open(`/calls/${id}`);
    const player = page.getByLabel('Audio made by the tool (audio/wav)');
    await player.waitFor();
    expect(await player.evaluate((audio: { preload: string; autoplay: boolean }) => [audio.preload, audio.autoplay])).toEqual([
      'none',
      false,
    ]);
    expect(await player.getAttribute('src')).toBe(`data:audio/wav;base64,${SILENCE}`);
    expect(await accessibilityFaults(page)).toEqual([]);
    const odd = await stage.agent.run('say', { kind: 'text/html' });
    await page.goto(`${stage.url}/calls/${odd.id}`);
    await page.getByText(/Audio of the kind text\/html .* which is not played/).waitFor();
    expect(await page.locator('audio').count()).toBe(0);
  });
});

describe('the page of workers', () => {
  it('shows first that commands are not isolated, and the description of a foreign worker', async () => {
    const worker = await ScriptedWorker.open(stage.url, TEST_KEY);
    worker.send({
      op: 'hello',
      protocol: 'toolyard-worker/1',
      worker: 'snake',
      sdk: 'python/3.12 toolyard',
      labels: { zone: 'north' },
      tools: [ADD],
    });
    await worker.next('welcome');
    const page = await stage.open('/workers');
    await page.locator('[data-not-isolated]').getByText('not isolated').waitFor();
    const card = page.locator('[data-worker]').filter({ hasText: 'python/3.12 toolyard' });
    await card.getByText('python/3.12 toolyard').waitFor();
    await card.getByText('zone=north').waitFor();
    await card.getByText('add', { exact: true }).waitFor();
    const { body } = await stage.agent.get<{ workers: WorkerStatus[] }>('/v1/workers');
    const { host, version = '' } = body.workers.find(({ foreign }) => foreign === undefined) ?? {};
    expect(host).toEqual({
      name: expect.any(String),
      cores: expect.any(Number),
      load: expect.any(Number),
      freeBytes: expect.any(Number),
      totalBytes: expect.any(Number),
    });
    await page
      .getByText(host?.name ?? '', { exact: true })
      .first()
      .waitFor();
    expect(version).toMatch(/^\d+\.\d+\.\d+/);
    await page.getByText(version, { exact: true }).first().waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    worker.close();
  });
});
