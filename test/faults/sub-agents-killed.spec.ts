import type { ServerResponse } from 'node:http';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Call, CallPage, SourcePage } from '#contracts';
import { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { startModelServer, type ModelServer, type ScriptedAnswer } from '../support/model-server.js';
import { startTestCluster, type AppProcess, type TestCluster } from '../support/test-cluster.js';
import { startWebhookServer, type WebhookServer } from '../support/webhook.js';

/** Lease of workers that are killed; the others keep their calls however slow the machine is. */
const SHORT_LEASE = { LEASE_MS: '5000' };

const folder = mkdtempSync(join(tmpdir(), 'toolyard-sub-agents-killed-'));

describe('a sub-agent whose worker or gateway is killed (SIGKILL)', () => {
  let toolyard: TestCluster;
  let models: ModelServer;
  let webhooks: WebhookServer;
  let agent: Agent;

  beforeAll(async () => {
    [models, webhooks] = await Promise.all([startModelServer(), startWebhookServer()]);
    const model = { provider: 'openai-compatible', name: 'helper', url: models.url };
    const helper = { kind: 'agent', name: 'helper', tier: 'read_only', tools: ['echo', 'sleep'], model };
    const orderly = { ...helper, name: 'orderly', strategy: { type: 'sequential' } };
    const sources = [helper, orderly];
    const hooks = [
      { name: 'slow', on: 'before', match: ['echo'], url: `${webhooks.url}/slow` },
      { name: 'held', on: 'before', match: ['sleep'], url: `${webhooks.url}/held` },
    ];
    const config = join(folder, 'toolyard.json');
    writeFileSync(config, JSON.stringify({ sources, agents: { hooked: { hooks } } }));
    toolyard = await startTestCluster({
      lists: true,
      env: { TOOLYARD_CONFIG: config, EGRESS_ALLOW_HOSTS: `127.0.0.1:${webhooks.port}` },
    });
    agent = new Agent(toolyard.gateways[0]?.url ?? '');
    const ready = async () => (await agent.get<SourcePage>('/v1/sources')).body.sources.every(({ status }) => status === 'ok');
    await eventually(ready, 'the sub-agent to be offered');
  });
  afterAll(async () => {
    await toolyard?.close();
    await Promise.all([models?.close(), webhooks?.close()]);
    rmSync(folder, { recursive: true });
  });

  /** The one worker of a test, until it is killed. */
  beforeEach(async () => {
    const others = toolyard.workers.splice(0);
    await toolyard.worker(SHORT_LEASE);
    for (const worker of others) worker.signal('SIGTERM');
    await Promise.all(others.map((worker) => worker.ended()));
  });

  const kill = async (apps: AppProcess[]) => {
    const [app] = apps.splice(0);
    app?.signal('SIGKILL');
    await app?.ended();
  };
  /** Each turn stands once in the log, each call was made once, and there is one End. */
  const checkOnce = async (callId: string, turns: number, tools: readonly string[]): Promise<Call> => {
    const call = await agent.ended(callId);
    const events = await agent.events(callId);
    expect(events.flatMap((event) => (event.type === 'call.turn' ? [event.data.turn] : []))).toEqual(
      Array.from({ length: turns }, (_unused, index) => index + 1),
    );
    expect(events.filter(({ type }) => type === 'call.end')).toHaveLength(1);
    const { body } = await agent.get<CallPage>('/v1/calls?limit=200');
    expect(body.calls.filter(({ parentCallId }) => parentCallId === callId).map(({ tool }) => tool)).toEqual(tools);
    return call;
  };

  it('asks the model again after a kill in the middle of a model turn, and records one answer', async () => {
    const never = new Promise(() => {});
    models.on('helper', [
      { until: never },
      { text: 'One.', toolCalls: [{ id: 'a', name: 'echo', arguments: { n: 1 } }] },
      { text: 'Two.' },
    ]);
    const { body } = await agent.submit('helper', { task: 'x' });
    await eventually(() => models.calls('helper').length === 1, 'the model to be asked');
    await kill(toolyard.workers);
    await toolyard.worker();
    expect(await checkOnce(body.id, 2, ['echo'])).toMatchObject({ outcome: 'completed', result: { details: { turns: 2, calls: 1 } } });
    expect(models.calls('helper')).toHaveLength(3);
  });

  it('continues with the answer of a call after a kill while a sub-agent waits for it', async () => {
    models.on('helper', [{ toolCalls: [{ id: 'a', name: 'sleep', arguments: { duration_ms: 5_000 } }] }, { text: 'Rested.' }]);
    const { body } = await agent.submit('helper', { task: 'x' });
    await eventually(async () => (await agent.get(`/v1/calls/${body.id}`)).body.waiting?.reason === 'suspended', 'it to be suspended');
    await kill(toolyard.workers);
    await toolyard.worker();
    expect((await checkOnce(body.id, 2, ['sleep'])).outcome).toBe('completed');
    expect(models.calls('helper')).toHaveLength(2);
  });

  it('makes each call once, in their order, after a kill between two calls that the strategy runs one after another', async () => {
    webhooks.on('/slow', {});
    const held = new Promise<ServerResponse>((resolve) => webhooks.on('/held', (_request, response) => resolve(response)));
    const both = [
      { id: 'a', name: 'echo', arguments: { n: 1 } },
      { id: 'b', name: 'sleep', arguments: { duration_ms: 1 } },
    ];
    models.on('helper', [{ toolCalls: both }, { text: 'Done.' }]);
    const { body } = await agent.submit('orderly', { task: 'x' }, { agentId: 'hooked' });
    const response = await held;
    await kill(toolyard.workers);
    response.writeHead(204).end();
    await toolyard.worker();
    const { outcome, result } = await checkOnce(body.id, 2, ['sleep', 'echo']);
    expect(outcome).toBe('completed');
    const [first = '', second = ''] = result?.childCallIds ?? [];
    const [end, submission] = [(await agent.events(first)).at(-1), (await agent.events(second))[0]];
    expect([end?.type, submission?.type]).toEqual(['call.end', 'call.submitted']);
    expect(Date.parse(end?.time ?? '')).toBeLessThanOrEqual(Date.parse(submission?.time ?? ''));
    expect(models.calls('helper')).toHaveLength(2);
  });

  it("makes a sub-agent's call once when gateway and worker are killed while it is submitted", async () => {
    webhooks.on('/slow', () => {});
    const earlier = webhooks.to('/slow').length;
    const answers: ScriptedAnswer[] = [{ toolCalls: [{ id: 'a', name: 'echo', arguments: { n: 2 } }] }, { text: 'Done.' }];
    models.on('helper', answers);
    const { body } = await agent.submit('helper', { task: 'x' }, { agentId: 'hooked' });
    await eventually(() => webhooks.to('/slow').length > earlier, 'the submission to begin');
    await Promise.all([kill(toolyard.gateways), kill(toolyard.workers)]);
    webhooks.on('/slow', {});
    const [gateway] = await Promise.all([toolyard.gateway(), toolyard.worker()]);
    agent = new Agent(gateway.url);
    expect((await checkOnce(body.id, 2, ['echo'])).outcome).toBe('completed');
    expect(models.calls('helper')).toHaveLength(2);
  });
});
