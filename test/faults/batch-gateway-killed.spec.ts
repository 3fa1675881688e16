import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Batch, CallEvent, Steered } from '#contracts';
import { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { findInvariantViolations } from '../support/installation-log.js';
import { startTestCluster, type TestCluster } from '../support/test-cluster.js';

describe('a gateway that is killed (SIGKILL) in the middle of a batch', () => {
  let toolyard: TestCluster;
  beforeAll(async () => {
    toolyard = await startTestCluster({ lists: true, gateways: 2, workers: 2 });
  });
  afterAll(() => toolyard.close());

  it('hands a batch of a killed gateway to another one, which continues in order, each call once, with messages', async () => {
    const [victim, survivor] = toolyard.gateways;
    const [agent, other] = [new Agent(victim?.url ?? ''), new Agent(survivor?.url ?? '')];
    const calls = Array.from({ length: 12 }, (_, n) => ({ tool: 'sleep', arguments: { duration_ms: 150 }, toolCallId: `t${n}` }));
    const batches = await Promise.all(
      ['one', 'two', 'three'].map((sessionId) => submit(agent, { strategy: { type: 'sequential' }, sessionId, calls })),
    );
    const read = async ({ id }: Batch) => (await other.get<Batch>(`/v1/batches/${id}`)).body;
    await eventually(
      async () => (await Promise.all(batches.map(read))).every(({ results }) => results[2]?.status === 'ended'),
      'a few calls to end',
    );
    victim?.signal('SIGKILL');
    await victim?.ended();

    for (const batch of await Promise.all(batches.map((it) => ended(other, it)))) {
      expect(batch.results.map(({ toolCallId, outcome }) => [toolCallId, outcome])).toEqual(
        calls.map(({ toolCallId }) => [toolCallId, 'completed']),
      );
      const { body } = await other.get<{ calls: { id: string }[] }>(`/v1/calls?sessionId=${batch.sessionId}&limit=200`);
      expect(new Set(body.calls.map(({ id }) => id))).toEqual(new Set(batch.results.map(({ callId }) => callId)));
      expect(body.calls).toHaveLength(batch.results.length);
      await expectOneAfterAnother(other, batch);
    }
    expect(await findInvariantViolations(toolyard.redis.url)).toEqual([]);
  });

  const submit = async (by: Agent, body: object): Promise<Batch> => {
    const answer = await by.request<Batch>('POST', '/v1/batches', body);
    expect(answer.status).toBe(202);
    return answer.body;
  };
  const ended = (by: Agent, { id }: Batch): Promise<Batch> =>
    eventually(async () => {
      const { body } = await by.get<Batch>(`/v1/batches/${id}?wait=10`);
      return body.status === 'ended' ? body : undefined;
    }, `batch ${id} to end`);

  it('delivers a message of a person to a batch once, although its gateway is killed at once [EX-07]', async () => {
    const victim = await toolyard.gateway();
    const [agent, other] = [new Agent(victim.url), new Agent(toolyard.gateways[1]?.url ?? '')];
    // The second call ends when the message has been taken.
    const calls = [
      { tool: 'echo', arguments: {} },
      { tool: 'shell', arguments: { command: 'until [ -e go ]; do sleep 0.05; done' } },
      ...Array.from({ length: 10 }, () => ({ tool: 'echo', arguments: {} })),
    ];
    const batch = await submit(agent, { strategy: { type: 'sequential' }, sessionId: 'steered', calls });
    await eventually(
      async () => (await other.get<Batch>(`/v1/batches/${batch.id}`)).body.results[1]?.status === 'running',
      'the second call to run',
    );
    const steered = await agent.request<Steered>('POST', '/v1/sessions/steered/steer', { message: 'stop, look at the other file' });
    expect(steered.status).toBe(202);
    victim.signal('SIGKILL');
    await victim.ended();
    // The call is known to run before its command has made the folder.
    const workspace = join(toolyard.workspaceRoot, 'default', 'sessions', 'steered');
    mkdirSync(workspace, { recursive: true });
    writeFileSync(join(workspace, 'go'), '');

    const { steering, stopped, results } = await ended(other, batch);
    expect(steering.map(({ message }) => message)).toEqual(['stop, look at the other file']);
    expect(stopped?.reason).toBe('steered');
    expect(results.at(-1)?.result?.content).toEqual([{ type: 'text', text: 'Skipped due to queued user message.' }]);
    const next = await submit(other, { sessionId: 'steered', calls: [{ tool: 'echo' }] });
    expect((await ended(other, next)).steering).toEqual([]);
    expect(await findInvariantViolations(toolyard.redis.url)).toEqual([]);
  });

  const seqOf = ({ id }: CallEvent) => Number(id.split('.')[2]);

  /** Checks by the order of the log, which is one for a session. */
  async function expectOneAfterAnother(agent: Agent, batch: Batch): Promise<void> {
    let last = 0;
    for (const { callId } of batch.results) {
      const seqs = (await agent.events(callId ?? '')).map(seqOf);
      expect(seqs[0]).toBeGreaterThan(last);
      last = seqs.at(-1) ?? 0;
    }
  }
});
