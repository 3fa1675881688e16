import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Batch, CallEvent, Steered } from '#contracts';
import { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { findInvariantViolations } from '../support/installation-log.js';
import { startTestCluster, type TestCluster } from '../support/test-cluster.js';

/** Longer than it takes a busy machine to ask for all three and to allow one. */
const APPROVAL_MS = 10_000;

describe('batches on real workers', () => {
  let toolyard: TestCluster;
  let agent: Agent;
  let other: Agent;
  beforeAll(async () => {
    toolyard = await startTestCluster({ gateways: 2, workers: 2, env: { APPROVAL_MS: String(APPROVAL_MS) } });
    [agent, other] = toolyard.gateways.map(({ url }) => new Agent(url)) as [Agent, Agent];
  });
  afterAll(() => toolyard.close());

  const submit = async (body: object, by = agent) => {
    const answer = await by.request<Batch>('POST', '/v1/batches', body);
    expect(answer.status).toBe(202);
    return answer.body;
  };
  const ended = (id: string, by = other) =>
    eventually(async () => {
      const { body } = await by.get<Batch>(`/v1/batches/${id}?wait=20`);
      return body.status === 'ended' ? body : undefined;
    }, `batch ${id} to end`);
  const seqOf = ({ id }: CallEvent) => Number(id.split('.')[2]);

  it('run 1,000 calls of one turn and give their results in call order, seen from another gateway [DX-06, EX-03]', async () => {
    const calls = Array.from({ length: 1_000 }, (_nothing, n) => ({ tool: 'echo', arguments: { n }, toolCallId: `t${n}` }));
    const { id } = await submit({ strategy: { type: 'parallel' }, sessionId: 'thousand', calls });
    const batch = await ended(id);
    expect(batch.results.map(({ toolCallId, outcome, result }) => [toolCallId, outcome, result?.content[0]])).toEqual(
      calls.map(({ toolCallId }, n) => [toolCallId, 'completed', { type: 'json', json: { n } }]),
    );
    expect(new Set(batch.results.map(({ callId }) => callId)).size).toBe(1_000);
  });

  it('keep the strategy that the agent was given, whatever the model writes into arguments [EX-01]', async () => {
    const wish = { strategy: { type: 'parallel' }, onFailure: 'abort', duration_ms: 100 };
    const calls = Array.from({ length: 3 }, () => ({ tool: 'echo', arguments: wish }));
    const { id } = await submit({ strategy: { type: 'sequential' }, sessionId: 'wishes', calls });
    const batch = await ended(id);
    expect([batch.strategy, batch.onFailure]).toEqual([{ type: 'sequential' }, 'isolate']);
    let last = 0;
    for (const { callId } of batch.results) {
      const seqs = (await agent.events(callId ?? '')).map(seqOf);
      expect(seqs[0]).toBeGreaterThan(last);
      last = seqs.at(-1) ?? 0;
    }
    const moved = await agent.request('POST', '/v1/batches', { calls: [{ tool: 'echo', strategy: { type: 'parallel' } }] });
    expect(moved.status).toBe(422);
  });

  it('that are all or nothing end when no decision comes in time, also if one call was allowed already [PP-95]', async () => {
    await agent.request('PUT', '/v1/sessions/asking', { posture: { permissionMode: 'prompt' } });
    const calls = ['a', 'b', 'c'].map((path) => ({ tool: 'file_write', arguments: { path, content: path } }));
    const { id } = await submit({ onFailure: 'abort', strategy: { type: 'parallel' }, sessionId: 'asking', calls });
    const asked = await eventually(async () => {
      const { body } = await agent.get<Batch>(`/v1/batches/${id}`);
      return body.results.every(({ status }) => status === 'waiting_approval') ? body : undefined;
    }, 'all three to be asked for');
    const yes = await other.request('POST', `/v1/calls/${asked.results[0]?.callId}/decision`, { decision: 'allow' });
    expect(yes.status).toBe(200);
    const batch = await ended(id);
    expect(batch.results.every(({ outcome }) => outcome === 'denied' || outcome === 'cancelled')).toBe(true);
    expect(batch.results.some(({ error }) => error?.code === 'approval_expired')).toBe(true);
    for (const { callId } of batch.results) expect((await agent.events(callId ?? '')).map(({ type }) => type)).not.toContain('call.start');
  });

  /** The last one: it kills the gateway that the others talk to. */
  it('hand a message of a person over once, though the gateway that took it is killed at once [EX-07]', async () => {
    // The second call ends when the message has been taken.
    const calls = [
      { tool: 'echo', arguments: {} },
      { tool: 'shell', arguments: { command: 'until [ -e go ]; do sleep 0.05; done' } },
      ...Array.from({ length: 10 }, () => ({ tool: 'echo', arguments: {} })),
    ];
    const batch = await submit({ strategy: { type: 'sequential' }, sessionId: 'steered', calls });
    await eventually(
      async () => (await other.get<Batch>(`/v1/batches/${batch.id}`)).body.results[1]?.status === 'running',
      'the second call to run',
    );
    const steered = await agent.request<Steered>('POST', '/v1/sessions/steered/steer', { message: 'stop, look at the other file' });
    expect(steered.status).toBe(202);
    toolyard.gateways[0]?.signal('SIGKILL');
    await toolyard.gateways[0]?.ended();
    // The call is known to run before its command has made the folder.
    const workspace = join(toolyard.workspaceRoot, 'default', 'sessions', 'steered');
    mkdirSync(workspace, { recursive: true });
    writeFileSync(join(workspace, 'go'), '');

    const { steering, stopped, results } = await ended(batch.id);
    expect(steering.map(({ message }) => message)).toEqual(['stop, look at the other file']);
    expect(stopped?.reason).toBe('steered');
    expect(results.at(-1)?.result?.content).toEqual([{ type: 'text', text: 'Skipped due to queued user message.' }]);
    const next = await submit({ sessionId: 'steered', calls: [{ tool: 'echo' }] }, other);
    expect((await ended(next.id)).steering).toEqual([]);
    expect(await findInvariantViolations(toolyard.redis.url)).toEqual([]);
  });
});
