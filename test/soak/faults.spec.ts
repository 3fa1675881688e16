import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { Agent } from '../support/agent.js';
import { freePort } from '../support/free-port.mjs';
import { startTestCluster, type AppProcess, type TestCluster } from '../support/test-cluster.js';
import { countsText, outcomesOf, submitMarkedCalls, type AcceptedCalls } from './marked-calls.js';

const SECONDS = Number(process.env['SOAK_SECONDS'] ?? 600);
const CLIENTS = 12;
const PAUSE_BETWEEN_FAULTS_MS = 4_000;

/**
 * Calls and faults for SOAK_SECONDS (default 600): workers and gateways are killed or paused, Redis is killed and started
 * again. Every accepted call must end once and no command may run twice; closing the cluster checks all invariants.
 * Prints what it saw.
 */
it(
  'ends every call once and runs no command twice under faults',
  async () => {
    const cluster = await startTestCluster({ gateways: 0, workers: 2, env: { LEASE_MS: '2000' } });
    const ports = [await freePort(), await freePort()].map(String);
    for (const port of ports) await cluster.gateway({ GATEWAY_PORT: port });
    const urls = ports.map((port) => `http://127.0.0.1:${port}`);
    const until = Date.now() + SECONDS * 1000;
    const seen: AcceptedCalls & { readonly faults: Map<string, number> } = { faults: new Map(), accepted: [], unanswered: 0 };

    const load = Array.from({ length: CLIENTS }, (_unused, client) => submitMarkedCalls(until, urls, client, seen));
    await breakThings(until, cluster, ports, seen.faults);
    await Promise.all(load);
    if (!cluster.gateways.some(isRunning)) await cluster.gateway({ GATEWAY_PORT: ports[0] ?? '' });
    if (!cluster.workers.some(isRunning)) await cluster.worker();

    const agent = new Agent(cluster.gateways.find(isRunning)?.url ?? '');
    const { outcomes, faults } = await outcomesOf(seen, cluster, agent);
    expect(faults).toEqual([]);
    console.log(
      [
        `${SECONDS} s, ${seen.accepted.length} calls accepted, ${seen.unanswered} requests without an answer`,
        `faults: ${countsText(seen.faults)}`,
        `outcomes: ${countsText(outcomes)}`,
        `memory, MiB: ${[...cluster.gateways, ...cluster.workers].filter(isRunning).map(residentOf).join(', ')}`,
      ].join('\n'),
    );
    expect(seen.accepted.length).toBeGreaterThan(SECONDS);
    await cluster.close();
  },
  (SECONDS + 300) * 1000,
);

const FAULTS = ['worker killed', 'worker paused', 'gateway killed', 'Redis killed'] as const;

/** Injects faults one after the other; killed processes are restarted at once. */
async function breakThings(until: number, cluster: TestCluster, ports: readonly string[], count: Map<string, number>): Promise<void> {
  for (let n = 0; Date.now() < until; n++) {
    await delay(PAUSE_BETWEEN_FAULTS_MS);
    const fault = FAULTS[n % FAULTS.length] ?? 'worker killed';
    count.set(fault, (count.get(fault) ?? 0) + 1);
    if (fault === 'Redis killed') {
      await cluster.redis.kill();
      await cluster.redis.start();
    } else if (fault === 'gateway killed') {
      const victim = cluster.gateways.find(isRunning);
      victim?.signal('SIGKILL');
      await victim?.ended();
      const port = ports.find((name) => !cluster.gateways.some((app) => isRunning(app) && app.url.endsWith(`:${name}`)));
      await cluster.gateway({ GATEWAY_PORT: port ?? '' });
    } else {
      const victim = cluster.workers.find(isRunning);
      victim?.signal(fault === 'worker killed' ? 'SIGKILL' : 'SIGSTOP');
      if (fault === 'worker killed') {
        await victim?.ended();
        await cluster.worker();
      } else {
        await delay(PAUSE_BETWEEN_FAULTS_MS);
        victim?.signal('SIGCONT');
      }
    }
  }
}

function isRunning({ child }: AppProcess): boolean {
  return child.exitCode === null && child.signalCode === null;
}

/** MiB of resident memory, from Linux' /proc. */
function residentOf({ name, child }: AppProcess): string {
  const pages = Number(readFileSync(`/proc/${child.pid}/statm`, 'utf8').split(' ')[1]);
  return `${name} ${((pages * 4096) / 2 ** 20).toFixed(0)}`;
}
