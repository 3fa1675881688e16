import { startPostgres } from './postgres.js';
import { endProcess, type StartRedis } from './processes.js';
import { SEED, seedCalls, sessionOf, type Seeded } from './list.seed.js';
import { freePort, isReady, KEY, startApp } from './toolyard.contender.js';

const CALLS = 1_000_000;
const ROUNDS = 25;
const WARM_UP = 5;
/** Acceptable waiting time in milliseconds for a person who opens a list, of which network and browser need a part. */
const GATE_MS = 300;

export interface ListFigures {
  readonly calls: number;
  readonly seeded: Seeded;
  readonly queries: readonly { readonly name: string; readonly p50Ms: number; readonly p95Ms: number; readonly found: number }[];
  /** The slowest of them. */
  readonly p95Ms: number;
}

/** Typical requests for lists. `{cursor}` is replaced by a cursor many pages deep. */
function questions(): Record<string, string> {
  const newest = new Date().toISOString();
  const hours = (n: number) => new Date(Date.now() - n * 3_600_000).toISOString();
  return {
    'newest 50': '/v1/calls?limit=50',
    'newest 200': '/v1/calls?limit=200',
    'page 400': '/v1/calls?limit=50&cursor={cursor}',
    failed: '/v1/calls?outcome=failed,timed_out',
    running: '/v1/calls?status=running,queued',
    'tool and outcome': '/v1/calls?tool=web_fetch&outcome=failed',
    'tool, agent, error code': '/v1/calls?tool=shell&agentId=agent-20&errorCode=run_timeout',
    'one session': `/v1/calls?sessionId=${sessionOf(Math.floor(CALLS / 3))}`,
    'an old hour': `/v1/calls?since=${hours(20)}&until=${hours(19)}&outcome=failed`,
    'nothing fits': '/v1/calls?tool=shell&outcome=denied',
    'common word': '/v1/calls?q=kernel',
    'words of no one call': '/v1/calls?q=kernel%20deploy',
    'rare word': `/v1/calls?q=${(CALLS / 2 + 7).toString(36)}`,
    'word of no call': '/v1/calls?q=zebrafish',
    'word and filters': '/v1/calls?q=nginx&tool=shell&outcome=failed',
    'count of failed': '/v1/calls:count?outcome=failed',
    'count of a day': `/v1/calls:count?tool=shell&since=${hours(12)}&until=${newest}`,
    'stats of 15 minutes': '/v1/stats',
    'tools of a day': '/v1/stats/tools',
    'failures of a day': '/v1/failures',
    sessions: '/v1/sessions',
  };
}

/** Stores a million calls, then asks a gateway, one question at a time and by turns; times are those of the whole HTTP request. */
export async function measureList(startRedis: StartRedis, calls = CALLS): Promise<ListFigures> {
  const [redis, postgres] = await Promise.all([startRedis(), startPostgres()]);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const seeded = await seedCalls(postgres.url, calls);
  const env = {
    ...process.env,
    REDIS_URL: redis.url,
    DATABASE_URL: postgres.url,
    TOOLYARD_API_KEY: KEY,
    LOG_LEVEL: 'warn',
    NODE_ENV: 'production',
  };
  const gateway = startApp('gateway', { ...env, GATEWAY_PORT: String(port), PARTITIONS: String(SEED.partitions) });
  try {
    await isReady(gateway, url);
    const cursor = await deepCursor(url, 400);
    const times = new Map<string, number[]>();
    const found = new Map<string, number>();
    for (let round = 0; round < WARM_UP + ROUNDS; round += 1) {
      for (const [name, path] of Object.entries(questions())) {
        const startedAt = performance.now();
        const answer = await ask(url, path.replace('{cursor}', cursor));
        if (round < WARM_UP) continue;
        times.set(name, [...(times.get(name) ?? []), performance.now() - startedAt]);
        found.set(name, sizeOf(answer));
      }
    }
    const queries = [...times].map(([name, all]) => {
      const sorted = all.sort((a, b) => a - b);
      const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
      return { name, p50Ms: at(0.5), p95Ms: at(0.95), found: found.get(name) ?? 0 };
    });
    return { calls, seeded, queries, p95Ms: Math.max(...queries.map(({ p95Ms }) => p95Ms)) };
  } finally {
    await endProcess(gateway);
    await Promise.all([redis.stop(), postgres.stop()]);
  }
}

/** The part of the bench alone: prints its table and answers whether the gate holds. */
export async function benchList(startRedis: StartRedis): Promise<boolean> {
  const figures = await measureList(startRedis);
  printList(figures);
  console.log(JSON.stringify({ bench: 'toolyard list', at: new Date().toISOString(), ...figures }));
  return figures.p95Ms <= GATE_MS;
}

export function printList({ calls, seeded, queries, p95Ms }: ListFigures): void {
  for (const { name, p50Ms, p95Ms: p95, found } of queries)
    console.log(`${name.padEnd(26)}p50 ${p50Ms.toFixed(1).padStart(6)} ms  p95 ${p95.toFixed(1).padStart(6)} ms  ${found} found`);
  console.log(
    `${calls} calls stored in ${seeded.seconds.toFixed(0)} s: projector ${seeded.nodeMicrosPerCall.toFixed(1)} µs a call; ` +
      `slowest p95 ${p95Ms.toFixed(1)} ms, gate ≤ ${GATE_MS} ms: ${p95Ms <= GATE_MS ? 'gate' : 'FAILED'}\n`,
  );
}

async function deepCursor(url: string, pages: number): Promise<string> {
  let cursor = '';
  for (let page = 0; page < pages; page += 4) {
    const answer = await ask(url, `/v1/calls?limit=200${cursor === '' ? '' : `&cursor=${cursor}`}`);
    cursor = String(answer['nextCursor']);
  }
  return cursor;
}

async function ask(url: string, path: string): Promise<Record<string, unknown>> {
  const response = await fetch(url + path, { headers: { authorization: `Bearer ${KEY}` } });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`GET ${path} answered ${response.status}: ${text.slice(0, 300)}`);
  return JSON.parse(text) as Record<string, unknown>;
}

/** Rows of an answer, or its number. */
function sizeOf(answer: Record<string, unknown>): number {
  if (typeof answer['count'] === 'number') return answer['count'];
  return Object.values(answer).find((value) => Array.isArray(value))?.length ?? 0;
}
