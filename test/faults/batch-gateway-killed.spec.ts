import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Batch, CallEvent } from '#contracts';
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

  it('leaves it to another one, which goes on where it was: in order, each call once, the message of a person too', async () => {
    const [victim, survivor] = toolyard.gateways;
    const [agent, other] = [new Agent(victim?.url ?? ''), new Agent(survivor?.url ?? '')];
    const calls = Array.from({ length: 12 }, (_, n) => ({ tool: 'sleep', arguments: { duration_ms: 150 }, toolCallId: `t${n}` }));
    const batches = await Promise.all(
      ['one', 'two', 'three'].map(async (sessionId) => {
        const { status, body } = await agent.request<Batch>('POST', '/v1/batches', { strategy: { type: 'sequential' }, sessionId, calls });
        expect(status).toBe(202);
        return body;
      }),
    );
    const read = async ({ id }: Batch) => (await other.get<Batch>(`/v1/batches/${id}`)).body;
    await eventually(
      async () => (await Promise.all(batches.map(read))).every(({ results }) => results[2]?.status === 'ended'),
      'a few calls to end',
    );
    victim?.signal('SIGKILL');
    await victim?.ended();

    const ended = await Promise.all(
      batches.map((batch) =>
        eventually(async () => {
          const { body } = await other.get<Batch>(`/v1/batches/${batch.id}?wait=10`);
          return body.status === 'ended' ? body : undefined;
        }, `batch ${batch.id} to end`),
      ),
    );
    for (const batch of ended) {
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

  const seqOf = ({ id }: CallEvent) => Number(id.split('.')[2]);

  /** By the order of the log, which is one for a session. */
  async function expectOneAfterAnother(agent: Agent, batch: Batch): Promise<void> {
    let last = 0;
    for (const { callId } of batch.results) {
      const seqs = (await agent.events(callId ?? '')).map(seqOf);
      expect(seqs[0]).toBeGreaterThan(last);
      last = seqs.at(-1) ?? 0;
    }
  }
});
