import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import type { Batch, Call, CallPage, Stats } from '#contracts';
import { createRedis, measureMemory, memoryShare, type RedisConnection } from '#redis';
import { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { startTestPostgres } from '../support/postgres.js';
import { startTestCluster } from '../support/test-cluster.js';

const CALLS = Number(process.env['SOAK_CALLS'] ?? 2_000_000);
const MEMORY = process.env['SOAK_REDIS_MEMORY'] ?? '256mb';
const CALLS_A_BATCH = 100;
const CLIENTS = 6;
const SAMPLE = 2_000;
const SETTINGS = ['--appendonly', 'yes', '--appendfsync', 'always', '--save', '', '--maxmemory', MEMORY];

/**
 * SOAK_CALLS calls (default 2,000,000) through a Redis of SOAK_REDIS_MEMORY (default 256mb): none is refused for memory, every
 * one is in the list, and a sample is read by its id. A call that waited for approval meanwhile runs when it is allowed. Prints rate
 * and memory.
 */
it(
  'runs, lists and reads millions of calls through a small Redis',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'toolyard-archive-'));
    const postgres = await startTestPostgres();
    const env = { DATABASE_URL: postgres.url, ARCHIVE_URL: `file://${folder}` };
    const gatewayEnv = { APPROVAL_MS: String(7 * 86_400_000) };
    // Unchecked: the events of two million calls do not fit into the memory of the test.
    const cluster = await startTestCluster({ env, gatewayEnv, redisSettings: SETTINGS, checked: false });
    await cluster.projector(env);
    const agent = new Agent(cluster.gateways[0]?.url ?? '');
    const redis = createRedis(cluster.redis.url);
    const watch = watchMemory(redis);
    const asked = await askForApproval(agent);

    const from = performance.now();
    const submitted = await submitAll(agent);
    const seconds = (performance.now() - from) / 1_000;
    console.log(`${CALLS} calls in ${seconds.toFixed(0)} s, ${(CALLS / seconds).toFixed(0)}/s; ${await watch.text()}`);
    expect(submitted.refused).toBe(0);

    expect(await missingInList(agent, new Set(submitted.ids))).toBe(0);
    expect((await agent.request('POST', `/v1/calls/${asked.id}/decision`, { decision: 'allow', scope: 'once' })).status).toBe(200);
    expect(await agent.ended(asked.id)).toMatchObject({ outcome: 'completed', arguments: { command: 'echo allowed' } });

    const step = Math.max(1, Math.floor(submitted.ids.length / SAMPLE));
    for (let at = 0; at < submitted.ids.length; at += step) {
      const call = await agent.get(`/v1/calls/${submitted.ids[at]}`);
      expect([call.status, call.body.outcome, call.body.arguments]).toEqual([200, 'completed', { text: String(at) }]);
    }
    console.log(`all listed and readable ${((performance.now() - from) / 1_000).toFixed(0)} s after the start; ${await watch.text()}`);
    expect(await watch.stop()).toBeLessThan(0.9);
    redis.disconnect();
    await cluster.close();
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  },
  CALLS * 20 + 600_000,
);

async function askForApproval(agent: Agent): Promise<Call> {
  await agent.request('PUT', '/v1/sessions/careful', { posture: { autonomy: 'supervised', permissionMode: 'prompt' } });
  const call = await agent.accepted('shell', { command: 'echo allowed' }, { sessionId: 'careful' });
  expect(call.status).toBe('waiting_approval');
  return call;
}

/** Ids by the number that is the argument of the call. A call that was refused, or did not complete, has none. */
async function submitAll(agent: Agent): Promise<{ ids: string[]; refused: number }> {
  const ids: string[] = [];
  let next = 0;
  let refused = 0;
  const client = async () => {
    for (let from = next; from < CALLS; from = next) {
      next = Math.min(from + CALLS_A_BATCH, CALLS);
      const calls = Array.from({ length: next - from }, (_, at) => ({ tool: 'echo', arguments: { text: String(from + at) } }));
      const body = { sessionId: `s${(from / CALLS_A_BATCH) % 500}`, strategy: { type: 'parallel' }, calls };
      const batch = await agent.request<Batch>('POST', '/v1/batches', body, { prefer: 'wait=60' });
      const results = batch.status === 200 ? batch.body.results : [];
      for (const { index, callId, outcome } of results) if (outcome === 'completed' && callId !== undefined) ids[from + index] = callId;
      refused += calls.length - results.filter(({ outcome }) => outcome === 'completed').length;
      if (next % 100_000 === 0) process.stderr.write(`${next} calls submitted\n`);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  return { ids, refused };
}

/** How many are on no page of the list. */
async function missingInList(agent: Agent, ids: Set<string>): Promise<number> {
  await eventually(
    async () => (await agent.get<Stats>('/v1/stats')).body.behind === undefined,
    'the projector to come to the end',
    600_000,
  );
  for (let query = '?limit=200'; ;) {
    const { calls, nextCursor } = (await agent.get<CallPage>(`/v1/calls${query}`)).body;
    for (const { id } of calls) ids.delete(id);
    if (nextCursor === undefined) return ids.size;
    query = `?limit=200&cursor=${encodeURIComponent(nextCursor)}`;
  }
}

/** The highest part of `maxmemory` that was in use. */
function watchMemory(redis: RedisConnection): { text(): Promise<string>; stop(): Promise<number> } {
  let peak = 0;
  const stopped = new AbortController();
  const look = async () => (peak = Math.max(peak, memoryShare(await measureMemory(redis))));
  const looking = (async () => {
    while (!stopped.signal.aborted) {
      await look();
      await delay(500, undefined, { signal: stopped.signal }).catch(() => {});
    }
  })();
  return {
    text: async () => {
      const [now, keys] = [await measureMemory(redis), await redis.dbsize()];
      return `peak ${(peak * 100).toFixed(1)} % of ${MEMORY}, now ${(now.usedBytes / 2 ** 20).toFixed(1)} MiB in ${keys} keys`;
    },
    stop: async () => {
      stopped.abort();
      await looking;
      return peak;
    },
  };
}
