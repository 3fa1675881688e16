import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newMarker, processesWith } from '../../libs/tools/src/testing/shell-runs.js';
import { Agent } from '../support/agent.js';
import { taskOf } from '../support/background.js';
import { eventually } from '../support/eventually.js';
import { textOf } from '../support/policy-case.js';
import { startTestCluster, type TestCluster } from '../support/test-cluster.js';

const SESSION = { sessionId: 'background' };

describe('a command in the background', () => {
  let toolyard: TestCluster;
  let agent: Agent;
  beforeAll(async () => {
    toolyard = await startTestCluster({ workers: 0, env: { LEASE_MS: '8000' } });
    agent = new Agent(toolyard.gateways[0]?.url ?? '');
  });
  afterAll(() => toolyard.close());

  it('continues a background command across replacement of another worker and the gateway, and loses it with its own worker', async () => {
    await toolyard.worker({ WORKER_POOLS: 'read,write' });
    const owner = await toolyard.worker({ WORKER_POOLS: 'shell' });
    const marker = newMarker();
    const command = `echo up; exec -a ${marker} sleep 600`;
    const starter = await agent.run('shell', { command, background: true }, SESSION);
    const task_id = taskOf(starter);
    await eventually(() => processesWith(marker).length > 0, 'the command to run');

    const [gateway] = toolyard.gateways;
    gateway?.signal('SIGKILL');
    await gateway?.ended();
    agent = new Agent((await toolyard.gateway()).url);
    const shown = await agent.run('shell_output', { task_id, wait_seconds: 30 }, SESSION);
    expect(textOf(shown)).toContain('up\n');
    expect(shown.result?.details).toMatchObject({ status: 'running' });

    owner.signal('SIGKILL');
    await owner.ended();
    await toolyard.worker({ WORKER_POOLS: 'shell' });
    expect(await agent.ended(task_id)).toMatchObject({ outcome: 'unknown', attempt: 1 });
    await eventually(() => processesWith(marker).length === 0, 'the command to be gone with its worker');
    expect(textOf(await agent.run('shell_output', { task_id }, SESSION))).toContain('lost: its worker is gone');
    expect(textOf(await agent.run('shell_list', {}, SESSION))).toContain('lost');
  });
});
