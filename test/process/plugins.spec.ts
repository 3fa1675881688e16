import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { SourceSummary, ToolDescriptor } from '#contracts';
import { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { writePluginPackage } from '../support/plugin-package.js';
import { startTestCluster, type TestCluster } from '../support/test-cluster.js';

const PLUGIN = 'toolyard-plugin-greeter';

describe('npm packages with tools', () => {
  const folder = mkdtempSync(join(tmpdir(), 'toolyard-plugins-'));
  let toolyard: TestCluster;
  let agent: Agent;

  const configFile = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const tool = async (name: string) =>
    eventually(
      async () => (await agent.get<{ tools: ToolDescriptor[] }>('/v1/tools')).body.tools.find((it) => it.name === name),
      `the tool ${name}`,
    );
  const run = async (name: string, args: object) => agent.ended((await agent.submit(name, args)).body.id);

  beforeAll(async () => {
    writePluginPackage(folder);
    writePluginPackage(folder, 'broken', 'export default {};');
    const trusted = `plugins: [{ package: ${PLUGIN}, config: { greeting: Good day }, trust: true }]`;
    const env = { TOOLYARD_CONFIG: configFile('toolyard.yaml', trusted) };
    toolyard = await startTestCluster({ workers: 1, env });
    agent = new Agent(toolyard.gateways[0]?.url ?? '');
  });
  afterAll(async () => {
    await toolyard.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('adds the tools of a package by configuration alone [TS-62]', async () => {
    expect(await tool('shout')).toMatchObject({ source: 'greeter', tier: 'read_only', effect: 'pure', pool: 'read' });
    const ended = await run('shout', { name: 'Ada' });
    expect(ended).toMatchObject({ outcome: 'completed', source: 'greeter' });
    expect(JSON.stringify(ended.result)).toContain('GOOD DAY, ADA!');
    expect((await agent.events(ended.id)).map(({ type }) => type)).toContain('call.update');
    const { sources } = (await agent.get<{ sources: SourceSummary[] }>('/v1/sources')).body;
    expect(sources.find(({ name }) => name === 'greeter')).toMatchObject({ kind: 'plugin', status: 'ok' });
  });

  it('accepts refusals and suspensions from a plugin tool, and hides its unexpected errors', async () => {
    await tool('greet_later');
    expect(JSON.stringify((await run('greet_later', { name: 'Ada' })).result)).toContain('Good day, Ada');
    expect((await run('shout', { name: '' })).error).toMatchObject({ code: 'invalid_arguments', message: 'The name is empty.' });
    const failed = await run('greet_wrong', {});
    expect(failed.error).toMatchObject({ code: 'tool_failed', message: expect.stringContaining(failed.id) });
    expect(JSON.stringify(failed)).not.toContain('secret detail');
  });

  it('stops a worker with one sentence when a plugin cannot be loaded', async () => {
    const file = configFile('broken.yaml', 'plugins: [{ package: broken }]');
    const refusal = await toolyard.worker({ TOOLYARD_CONFIG: file }).catch((error: unknown) => String(error));
    toolyard.workers.pop();
    expect(refusal).toContain('worker ended with 1');
    expect(refusal).toContain('The plugin broken cannot be loaded: ');
    expect(refusal).not.toContain('    at ');
  });
});
