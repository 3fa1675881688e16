import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import pg from 'pg';
import { openArchive, verifyArchive } from '#archive';
import type { Stats } from '#contracts';
import { createRedis, measureMemory, type RedisConnection } from '#redis';
import { Agent } from '../support/agent.js';
import { startCli } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { startTestPostgres, type TestPostgres } from '../support/postgres.js';
import { startTestCluster, type AppProcess, type TestCluster } from '../support/test-cluster.js';

const SECONDS = Number(process.env['SOAK_SECONDS'] ?? 600);
const CLIENTS = 12;
const PAUSE_MS = 3_000;
/** Redis is kept this full: segments are closed after 5 s, and trimmed as soon as they may be. */
const SHARE = 0.65;
const TABLES = ['calls', 'sessions', 'totals', 'positions'];

/**
 * Kills projectors, PostgreSQL and Redis, and takes the archive away, at random for SOAK_SECONDS (default 600) under load. Closing
 * the cluster checks all invariants over archive and log together. Afterwards the rows are those of a rebuild, byte by byte, the
 * archive verifies, and no event is lost or doubled. Prints what it saw; SOAK_SEED repeats the order of the faults.
 */
it(
  'keeps rows and archive correct under faults',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'toolyard-archive-'));
    const archive = join(folder, 'archive');
    const postgres = await startTestPostgres();
    const env = { DATABASE_URL: postgres.url, ARCHIVE_URL: `file://${archive}`, LEASE_MS: '5000' };
    const cluster = await startTestCluster({ workers: 2, env });
    const projectors = [await cluster.projector(env), await cluster.projector(env)];
    const agent = new Agent(cluster.gateways[0]?.url ?? '');
    const redis = createRedis(cluster.redis.url);
    const until = Date.now() + SECONDS * 1_000;
    const stopped = new AbortController();
    const filling = keepFull(redis, stopped.signal);

    const accepted: string[] = [];
    const load = Array.from({ length: CLIENTS }, (_, client) => submitUntil(until, agent, client, accepted));
    const faults = await breakThings(until, { cluster, projectors, postgres, archive, env });
    await Promise.all(load);
    for (const id of accepted) expect((await agent.ended(id, 120_000)).outcome).toBeDefined();
    await eventually(async () => (await agent.get<Stats>('/v1/stats')).body.behind === undefined, 'the rows to be complete', 300_000);
    stopped.abort();
    await filling;

    const before = await rowsOf(postgres.url);
    const rebuilt = await startCli(['history', 'rebuild'], { url: '', env: { ...env, REDIS_URL: cluster.redis.url } }).ended();
    expect([rebuilt.code, rebuilt.err]).toEqual([0, '']);
    expect(await rowsOf(postgres.url)).toEqual(before);
    const found: unknown[] = [];
    const report = await verifyArchive({ store: await openArchive(`file://${archive}`), report: (fault) => found.push(fault) });
    expect(found).toEqual([]);
    console.log(
      [
        `${SECONDS} s, ${accepted.length} calls accepted, ${[...faults].map(([name, n]) => `${name} ${n}`).join(', ')}`,
        `rows: ${TABLES.map((table) => `${table} ${before[table]?.length}`).join(', ')}`,
        `archive: ${report.events} events in ${report.segments} segments, ${report.leftovers} files of killed processes; no fault`,
        `streams: ${await redis.dbsize()} keys in Redis`,
      ].join('\n'),
    );
    expect(before['calls']?.length).toBeGreaterThanOrEqual(accepted.length);
    redis.disconnect();
    await cluster.close();
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  },
  (SECONDS + 900) * 1_000,
);

/** Client that submits reads, calls with updates and suspended calls, one after the other, until one is not answered. */
async function submitUntil(until: number, agent: Agent, client: number, accepted: string[]): Promise<void> {
  for (let n = 0; Date.now() < until; n += 1) {
    const [tool, args] =
      n % 3 === 0
        ? ['shell', { command: `for i in 1 2 3; do echo ${n}; done` }]
        : n % 3 === 1
          ? ['echo', { text: 'x'.repeat(n % 12 === 1 ? 50_000 : 50) }]
          : ['sleep', { ms: 100 }];
    const headers = { 'idempotency-key': `history-${client}-${n}`, prefer: 'wait=5' };
    const answer = await agent.submit(tool, args, { sessionId: `s${client}` }, headers).catch(() => undefined);
    if (answer === undefined || answer.status >= 400) await delay(100);
    else accepted.push(answer.body.id);
  }
}

/** Redis is away at times. */
async function keepFull(redis: RedisConnection, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const { usedBytes } = await measureMemory(redis);
    await redis.config('SET', 'maxmemory', Math.round(usedBytes / SHARE));
    await delay(1_000, undefined, { signal }).catch(() => {});
  }
  await redis.config('SET', 'maxmemory', '0');
}

interface Installation {
  readonly cluster: TestCluster;
  readonly projectors: AppProcess[];
  readonly postgres: TestPostgres;
  readonly archive: string;
  readonly env: Record<string, string>;
}

const FAULTS = ['projector killed', 'PostgreSQL killed', 'archive away', 'Redis killed', 'PostgreSQL and archive away'] as const;

/** Injects faults one after the other; killed processes are restarted at once. */
async function breakThings(until: number, parts: Installation): Promise<ReadonlyMap<string, number>> {
  const count = new Map<string, number>();
  const random = randomNumbers(Number(process.env['SOAK_SEED'] ?? 1));
  while (Date.now() < until) {
    await delay(PAUSE_MS * random());
    const fault = FAULTS[Math.floor(random() * FAULTS.length)] ?? 'projector killed';
    count.set(fault, (count.get(fault) ?? 0) + 1);
    await breakOne(fault, parts, PAUSE_MS * random());
  }
  return count;
}

async function breakOne(fault: (typeof FAULTS)[number], { cluster, projectors, postgres, archive, env }: Installation, ms: number) {
  switch (fault) {
    case 'projector killed': {
      const victim = projectors.shift();
      victim?.signal('SIGKILL');
      await victim?.ended();
      projectors.push(await cluster.projector(env));
      return;
    }
    case 'PostgreSQL killed':
      return killPostgres(postgres);
    case 'archive away':
      return away(archive, ms);
    case 'Redis killed':
      await cluster.redis.kill();
      await delay(ms / 3);
      return cluster.redis.start();
    case 'PostgreSQL and archive away':
      await Promise.all([killPostgres(postgres), away(archive, ms)]);
      return;
    default:
      return fault satisfies never;
  }
}

/** Kills PostgreSQL and waits for its automatic restart. */
async function killPostgres({ url, pid }: TestPostgres): Promise<void> {
  if (pid !== undefined) process.kill(pid, 'SIGKILL');
  await eventually(() => answers(url), 'PostgreSQL to be back');
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query('select 1');
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}

async function away(archive: string, ms: number): Promise<void> {
  renameSync(archive, `${archive}-away`);
  await delay(ms);
  renameSync(`${archive}-away`, archive);
}

/** Every column of every row as text, but the time at which a position was written. */
async function rowsOf(url: string): Promise<Record<string, string[]>> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const tables: Record<string, string[]> = {};
  for (const table of TABLES) {
    const { rows } = await client.query<{ row: string }>(
      `select (to_jsonb(t) - 'updated_at')::text as row from toolyard.${table} t order by 1`,
    );
    tables[table] = rows.map(({ row }) => row);
  }
  await client.end();
  return tables;
}

/** Numbers from 0 to 1 that follow from the seed (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
