import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { newMarker, processesWith } from '../../libs/tools/src/testing/shell-runs.js';
import { ToolyardClient } from '#client';
import { Agent } from '../support/agent.js';
import { taskOf } from '../support/background.js';
import { eventually } from '../support/eventually.js';
import { textOf } from '../support/policy-case.js';
import { SshServer } from '../support/ssh-server.js';
import { startTestCluster, TEST_KEY, type TestCluster } from '../support/test-cluster.js';

/** Lease of the worker that is killed; the others keep their calls however slow the machine is. */
const SHORT_LEASE = { LEASE_MS: '3000' };
const REMOTE = { sessionId: 'build-1' };
const LOCAL = { sessionId: 'other' };

describe('commands of some sessions on a host over ssh', () => {
  let server: SshServer;
  let toolyard: TestCluster;
  let agent: Agent;
  let url: string;
  beforeAll(async () => {
    server = await SshServer.start();
    const config = server.path('toolyard.yaml');
    writeFileSync(config, JSON.stringify({ remoteHosts: { build: server.settings({ sessions: ['build-*'] }) } }));
    toolyard = await startTestCluster({ workers: 1, env: { TOOLYARD_CONFIG: config, SANDBOX: 'none' } });
    url = toolyard.gateways[0]?.url ?? '';
    agent = new Agent(url);
  });
  afterAll(async () => {
    await toolyard.close();
    await server.close();
  });

  it('runs commands of a session on its host and not on the worker, whose catalog and status say so [PP-47]', async () => {
    const ran = await agent.run('shell', { command: 'echo made > file; pwd; exit 3' }, REMOTE);
    expect(ran).toMatchObject({ outcome: 'completed', result: { isError: true, details: { exitCode: 3, sandbox: 'ssh', host: 'build' } } });
    expect(textOf(ran)).toContain('/work/default/sessions/build-1\n');
    expect(textOf(await agent.run('shell', { command: 'pwd' }, LOCAL))).toContain('SANDBOX switches commands off');

    const read = await agent.run('file_read', { path: 'file' }, REMOTE);
    expect(read).toMatchObject({ outcome: 'failed', error: { code: 'unavailable' } });
    expect(textOf(read)).toContain('on the host build, over ssh');

    const client = new ToolyardClient({ baseUrl: url, apiKey: TEST_KEY });
    const described = async (sessionId: string, name: string) => {
      const tools = await client.tools.list({ sessionId });
      return tools.find((tool) => tool.name === name)?.description;
    };
    expect(await described(REMOTE.sessionId, 'shell')).toContain('Commands run on the host build over ssh');
    expect(await described(LOCAL.sessionId, 'shell')).not.toContain('over ssh');
    const spoken = { ...REMOTE, dialect: 'claude-code' };
    expect(textOf(await agent.run('bash', { command: 'pwd' }, spoken))).toContain('/work/default/sessions/build-1');
    expect(await agent.run('read_file', { path: 'file' }, spoken)).toMatchObject({ outcome: 'failed', error: { code: 'unavailable' } });
    // A worker reports the state of its hosts with each heartbeat.
    const hosts = async () => (await client.workers.list())[0]?.hosts;
    await eventually(async () => (await hosts())?.[0]?.ok, 'the next heartbeat');
    expect(await hosts()).toEqual([{ name: 'build', tenant: 'default', agents: ['*'], sessions: ['build-*'], ok: true }]);
    client.close();
  });

  it('runs commands on a host in the background, and ends them with their worker, never twice', async () => {
    const marker = newMarker();
    const started = await agent.run('shell', { command: `echo up; exec -a ${marker} sleep 600`, background: true }, REMOTE);
    const task_id = taskOf(started);
    await eventually(() => processesWith(marker).length > 0, 'the command to run');
    expect(textOf(await agent.run('shell_output', { task_id, wait_seconds: 30 }, REMOTE))).toContain('up\n');
    await agent.run('shell_stop', { task_id }, REMOTE);
    await eventually(() => processesWith(marker).length === 0, 'the command to be stopped');

    const others = toolyard.workers.slice();
    const owner = await toolyard.worker(SHORT_LEASE);
    for (const worker of others) worker.signal('SIGTERM');
    await Promise.all(others.map((worker) => worker.ended()));
    const lost = newMarker();
    const running = agent.run('shell', { command: `echo started >> runs; exec -a ${lost} sleep 600` }, REMOTE);
    await eventually(() => processesWith(lost).length > 0, 'the second command to run');
    owner.signal('SIGKILL');
    await owner.ended();
    await eventually(() => processesWith(lost).length === 0, 'the command to be gone with its worker');
    await toolyard.worker();
    expect(await running).toMatchObject({ outcome: 'unknown', attempt: 1 });
    expect(textOf(await agent.run('shell', { command: 'cat runs' }, REMOTE))).toBe('started\n');
  });

  it("refuses commands for a host missing in the worker's own config, also without another worker", async () => {
    for (const worker of toolyard.workers) worker.signal('SIGTERM');
    await Promise.all(toolyard.workers.map((worker) => worker.ended()));
    const config = server.path('without-hosts.yaml');
    writeFileSync(config, '{}');
    await toolyard.worker({ TOOLYARD_CONFIG: config, SANDBOX: 'host' });
    const refused = await agent.run('shell', { command: 'touch ran' }, REMOTE);
    expect(refused).toMatchObject({ outcome: 'failed', error: { code: 'unavailable' } });
    expect(textOf(refused)).toContain('run on the host build, which this worker does not know. Nothing was run.');
    for (const [tool, args] of [
      ['file_write', { path: 'ran', content: '' }],
      ['repl', { language: 'bash', code: 'touch ran' }],
    ] as const)
      expect(await agent.run(tool, args, REMOTE)).toMatchObject({ outcome: 'failed', error: { code: 'unavailable' } });
    const folder = `${toolyard.workspaceRoot}/default/sessions`;
    expect(textOf(await agent.run('shell', { command: `pwd; ls ${folder}/build-1` }, LOCAL))).toBe(`${folder}/other\n`);
  });
});
