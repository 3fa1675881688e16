import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import type { Batch, Diagnostics, Session } from '#contracts';
import { Agent } from '../support/agent.js';
import { anotherRelease, type AnotherRelease } from '../support/another-release.js';
import { eventually } from '../support/eventually.js';
import { startTestCluster, type AppProcess, type TestCluster } from '../support/test-cluster.js';

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
const NEXT = { version: '99.0.0', protocol: 99 };

describe('a rolling update from this release to the next', () => {
  let next: AnotherRelease;
  let toolyard: TestCluster;
  let before: AppProcess;
  beforeAll(async () => {
    next = anotherRelease(NEXT.version, NEXT.protocol);
    toolyard = await startTestCluster({ gateways: 0, workers: 0 });
    before = await toolyard.gateway({ GATEWAY_NAME: 'before' });
  });
  afterAll(async () => {
    await toolyard?.close();
    next?.remove();
  });

  const textOf = async (agent: Agent, id: string) => JSON.stringify((await agent.ended(id)).result?.content);
  const shell = async (agent: Agent, command: string, more = {}) => (await agent.accepted('shell', { command }, more)).id;

  it('runs each call once while gateways and workers of two releases run side by side, in both directions', async () => {
    const older = new Agent(before.url);
    await older.request('PUT', '/v1/sessions/asks', { posture: { autonomy: 'supervised', permissionMode: 'prompt' } });
    const asked = await shell(older, 'echo approved', { sessionId: 'asks' });
    const { body: batch } = await older.request<Batch>('POST', '/v1/batches', {
      strategy: { type: 'sequential' },
      calls: [1, 2, 3].map((n) => ({ tool: 'shell', arguments: { command: `echo ${n}` } })),
    });
    const queued = await shell(older, 'echo queued');

    // Gateways first: the newer one serves what the older one wrote, and its calls run on a worker of the older release.
    const after = await toolyard.gateway({ GATEWAY_NAME: 'after' }, next.programOf('gateway'));
    const newer = new Agent(after.url);
    const worker = await toolyard.worker({ WORKER_ID: 'before' });
    expect(await textOf(newer, queued)).toContain('queued');
    expect(await textOf(older, await shell(newer, 'echo by the newer'))).toContain('by the newer');
    await newer.request('POST', `/v1/calls/${asked}/decision`, { decision: 'allow', scope: 'session-tool' });
    expect(await textOf(older, asked)).toContain('approved');
    expect((await older.get<Session>('/v1/sessions/asks')).body.grants.trustedTools).toEqual(['shell']);

    const replacement = await toolyard.worker({ WORKER_ID: 'after' }, {}, next.programOf('worker'));
    const { processes } = (await older.get<Diagnostics>('/v1/diagnostics')).body;
    const found = processes.map(({ kind, id, version: of }) => [kind, id, of]);
    expect(found).toEqual(
      ['gateway', 'worker'].flatMap((kind) => [
        [kind, 'after', NEXT.version],
        [kind, 'before', version],
      ]),
    );

    // The worker of the older release ends what it runs, the gateway leaves its batch to the newer one.
    const running = await shell(older, 'echo begun; sleep 1; echo done', { sessionId: 'asks' });
    await eventually(async () => (await older.get(`/v1/calls/${running}`)).body.status === 'running', 'the call to run');
    worker.signal('SIGTERM');
    expect((await worker.ended()).code).toBe(0);
    before.signal('SIGTERM');
    expect((await before.ended()).code).toBe(0);
    expect(await textOf(newer, running)).toContain('done');
    const ended = await eventually(async () => {
      const { body } = await newer.get<Batch>(`/v1/batches/${batch.id}`);
      return body.status === 'ended' ? body : undefined;
    }, 'the batch to end');
    expect(ended.results.map(({ outcome }) => outcome)).toEqual(['completed', 'completed', 'completed']);

    // Back again: what the newer release wrote says that this one can read it.
    const back = await toolyard.gateway({ GATEWAY_NAME: 'back' });
    expect(await textOf(new Agent(back.url), await shell(newer, 'echo read by both'))).toContain('read by both');
    replacement.signal('SIGTERM');
    await replacement.ended();
    await toolyard.worker({ WORKER_ID: 'back' });
    expect(await textOf(newer, await shell(newer, 'echo run by the older'))).toContain('run by the older');
  });
});
