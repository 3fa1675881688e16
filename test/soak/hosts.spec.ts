import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { HERE, startHosts, type Host } from '../support/hosts.js';
import { startTestCluster, type AppProcess, type TestCluster } from '../support/test-cluster.js';
import { countsText, linesOf, outcomesOf, submitMarkedCalls, type AcceptedCalls } from './marked-calls.js';

const SECONDS = Number(process.env['SOAK_SECONDS'] ?? 600);
const CLIENTS = 6;
const FAULT_MS = 30_000;
/** Two thirds, after which a worker gives a call up, and the grace of its commands are less than the whole. */
const LEASE_MS = 15_000;
const FAULTS = ['cut off', 'thin link', 'power lost'] as const;
/** Ignores the polite end, so that it runs for the whole grace. Writes the time. */
const STUBBORN = (file: string) => `trap '' TERM; while :; do date +%s%3N >> ${file}; sleep 0.1; done`;

interface WorkerHost {
  readonly id: string;
  readonly host: Host;
  worker: AppProcess;
}

/** Times in milliseconds, by what was measured. */
type Figures = Map<string, number[]>;

/**
 * Calls for SOAK_SECONDS (default 600) on two hosts with a worker each, while one of them in turn is cut off for 30 s, has a
 * thin link, or loses its power. Commands of a worker that is cut off stop before anybody else ends their calls, and nothing of it
 * is written afterwards. Closing the cluster checks all invariants. Prints what it measured.
 */
it(
  'ends every call once, and stops the commands of a host that is cut off before their calls end',
  async () => {
    const hosts = startHosts(['one', 'two']);
    const cluster = await startTestCluster({
      workers: 0,
      env: { LEASE_MS: String(LEASE_MS) },
      redisSettings: [
        '--appendonly',
        'yes',
        '--appendfsync',
        'always',
        '--save',
        '',
        '--bind',
        '127.0.0.1',
        HERE,
        '--protected-mode',
        'no',
      ],
    });
    const workers: WorkerHost[] = [];
    for (const [index, host] of hosts.entries()) {
      const id = `worker-${index + 1}`;
      workers.push({ id, host, worker: await startWorker(cluster, id, host) });
    }
    const agent = cluster.agent;
    const until = Date.now() + SECONDS * 1000;
    const seen: AcceptedCalls = { accepted: [], unanswered: 0 };
    const figures: Figures = new Map();
    const load = Array.from({ length: CLIENTS }, (_unused, client) => submitMarkedCalls(until, [agent.url], client, seen));
    for (let round = 0; Date.now() < until; round++) {
      const victim = workers[round % workers.length];
      const fault = FAULTS[round % FAULTS.length];
      if (victim && fault) await breakHost(cluster, victim, fault, round, figures);
    }
    await Promise.all(load);

    const { outcomes, faults } = await outcomesOf(seen, cluster, agent);
    console.log(
      [
        `${SECONDS} s, ${seen.accepted.length} calls accepted, ${seen.unanswered} requests without an answer`,
        `outcomes: ${countsText(outcomes)}`,
        ...[...figures].map(([what, times]) => `${what}: ${quantilesText(times)}`),
      ].join('\n'),
    );
    expect(faults).toEqual([]);
    await cluster.close();
  },
  (SECONDS + 600) * 1000,
);

function startWorker(cluster: TestCluster, id: string, { address, launcher }: Host): Promise<AppProcess> {
  const env = { WORKER_ID: id, WORKER_HOST: address, REDIS_URL: `redis://${HERE}:${cluster.redis.port}` };
  return cluster.worker(env, {}, undefined, launcher);
}

async function breakHost(cluster: TestCluster, victim: WorkerHost, fault: (typeof FAULTS)[number], round: number, figures: Figures) {
  const agent = cluster.agent;
  const note = (what: string, ms: number) => figures.set(what, [...(figures.get(what) ?? []), ms]);
  const running = await stubbornCalls(agent, victim.id, round);
  const brokenAt = Date.now();
  if (fault === 'thin link') victim.host.limit('256kbit');
  else victim.host.cut();
  if (fault === 'power lost') victim.host.kill();

  if (fault !== 'thin link')
    for (const { id, file } of running.ofVictim) {
      const call = await agent.ended(id);
      expect(call).toMatchObject({ outcome: 'unknown', error: { code: 'outcome_unknown' } });
      const endedAt = Date.parse(call.endedAt ?? '');
      note(`${fault}: from the fault to the End`, endedAt - brokenAt);
      const stoppedAt = Number(linesOf(cluster, file).at(-1));
      note(`${fault}: from the fault to the stop of the command`, stoppedAt - brokenAt);
      expect(stoppedAt).toBeLessThan(endedAt);
    }
  await delay(Math.max(0, brokenAt + FAULT_MS - Date.now()));
  const before = await Promise.all(running.ofVictim.map(({ id }) => agent.events(id)));

  if (fault === 'thin link') victim.host.unlimit();
  else victim.host.join();
  const joinedAt = Date.now();
  if (fault === 'power lost') victim.worker = await startWorker(cluster, victim.id, victim.host);
  await eventually(async () => (await fetch(`${victim.worker.url}/readyz`).catch(() => undefined))?.ok, `${victim.id} to be ready`);
  note(`${fault}: from its end until the worker is ready`, Date.now() - joinedAt);
  await eventually(
    async () => (await startedBy(agent, (await agent.run('echo', { round })).id)) === victim.id,
    `${victim.id} to run calls`,
  );
  note(`${fault}: from its end until the worker runs calls`, Date.now() - joinedAt);

  if (fault !== 'thin link') expect(await Promise.all(running.ofVictim.map(({ id }) => agent.events(id)))).toEqual(before);
  for (const { id } of running.all) await agent.request('POST', `/v1/calls/${id}/cancel`, { graceMs: 0 });
  for (const { id } of running.all) await agent.ended(id);
}

/** Submits commands that do not stop politely, until the worker runs one. */
async function stubbornCalls(agent: Agent, worker: string, round: number) {
  const all: { readonly id: string; readonly file: string }[] = [];
  const ofVictim: typeof all = [];
  await eventually(async () => {
    const file = `ticks-${round}-${all.length}`;
    const { id } = await agent.accepted('shell', { command: STUBBORN(file) });
    all.push({ id, file });
    const runner = await eventually(() => startedBy(agent, id), `call ${id} to start`);
    if (runner === worker) ofVictim.push({ id, file });
    return ofVictim.length > 0;
  }, `${worker} to run a command`);
  return { all, ofVictim };
}

/** The worker of the last Start. */
async function startedBy(agent: Agent, id: string): Promise<string | undefined> {
  const start = (await agent.events(id)).findLast(({ type }) => type === 'call.start');
  return start?.type === 'call.start' ? start.data.worker : undefined;
}

function quantilesText(times: readonly number[]): string {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
  return `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, ${sorted.length} times`;
}
