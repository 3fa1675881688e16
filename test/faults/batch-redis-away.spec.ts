import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Batch } from '#contracts';
import { Agent } from '../support/agent.js';
import { FaultyProxy } from '../support/faulty-proxy.js';
import { eventually } from '../support/eventually.js';
import { findInvariantViolations } from '../support/installation-log.js';
import { startTestCluster, type TestCluster } from '../support/test-cluster.js';

/** Command of a gateway that stores the id of each call of a batch. */
const NOTES_A_CALL = /\r\nhset\r\n\$\d+\r\n\{p\d+\}:batch:[^\r]+\r\n\$\d+\r\nc\d+\r\n/i;

describe('Redis going away after it accepted a call of a batch, before the batch has its id', () => {
  let toolyard: TestCluster;
  let proxy: FaultyProxy;
  beforeAll(async () => {
    toolyard = await startTestCluster({ gateways: 0, workers: 1, env: { WORKER_POOLS: 'read' } });
    proxy = await FaultyProxy.start(toolyard.redis.url);
    await toolyard.gateway({ REDIS_URL: proxy.url.replace('http:', 'redis:') });
  });
  afterAll(async () => {
    await toolyard?.close();
    await proxy?.close();
  });

  it.each([1, 3])('ends a batch of %i with the result of every call when Redis fails before an accepted call is recorded', async (size) => {
    const [gateway] = toolyard.gateways;
    const agent = new Agent(gateway?.url ?? '');
    let cut = false;
    proxy.toServer = (piece) => {
      if (cut || !NOTES_A_CALL.test(piece.toString('latin1'))) return piece;
      cut = true;
      proxy.away();
      return undefined;
    };
    const calls = Array.from({ length: size }, (_, n) => ({ tool: 'echo', arguments: { n } }));
    const { status, body } = await agent.request<Batch>('POST', '/v1/batches', { strategy: { type: 'parallel' }, calls });
    expect(status).toBe(202);
    await eventually(() => cut && gateway?.log().includes(`"batchId":"${body.id}"`), 'the gateway to fail to note the call');
    await proxy.back();

    const ended = await eventually(async () => {
      const { body: batch } = await agent.get<Batch>(`/v1/batches/${body.id}`);
      return batch.status === 'ended' ? batch : undefined;
    }, 'the batch to end');
    expect(ended.results.map(({ index, outcome }) => [index, outcome])).toEqual(calls.map((_, index) => [index, 'completed']));
    expect(new Set(ended.results.map(({ callId }) => callId)).size).toBe(size);
    expect(await findInvariantViolations(toolyard.redis.url)).toEqual([]);
  });
});
