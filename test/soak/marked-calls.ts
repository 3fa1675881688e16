import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Call } from '#contracts';
import { Agent } from '../support/agent.js';
import type { TestCluster } from '../support/test-cluster.js';

const LOG = 'ran.txt';

export interface AcceptedCalls {
  /** `marker`: line that the command writes, once. */
  readonly accepted: { readonly id: string; readonly marker: string | undefined }[];
  unanswered: number;
}

/** Client that submits commands that leave a mark, reads, and suspended calls, one after the other, each at any gateway that answers. */
export async function submitMarkedCalls(until: number, urls: readonly string[], client: number, seen: AcceptedCalls): Promise<void> {
  for (let n = 0; Date.now() < until; n++) {
    const agent = new Agent(urls[(client + n) % urls.length] ?? '');
    const marker = n % 3 === 0 ? `${client}-${n}` : undefined;
    const [tool, args] =
      marker !== undefined
        ? ['shell', { command: `echo ${marker} >> ${LOG}` }]
        : n % 3 === 1
          ? ['glob', { pattern: '*' }]
          : ['sleep', { ms: 200 }];
    const headers = { 'idempotency-key': `soak-${client}-${n}`, prefer: 'wait=5' };
    const answer = await agent.submit(tool, args, {}, headers).catch(() => undefined);
    if (answer === undefined || answer.status >= 500) {
      seen.unanswered++;
      await delay(100);
    } else if (isCall(answer.body)) seen.accepted.push({ id: answer.body.id, marker });
  }
}

/** Waits for the End of each call. Returns the number of calls by outcome, and each marker whose command ran twice, or completed without a run. */
export async function outcomesOf({ accepted }: AcceptedCalls, cluster: TestCluster, agent: Agent) {
  const outcomes = new Map<string, number>();
  const faults: string[] = [];
  for (const { id, marker } of accepted) {
    const { outcome = 'none' } = await agent.ended(id, 120_000);
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    if (marker === undefined) continue;
    const runs = runsOf(cluster, marker);
    if (runs > 1 || (outcome === 'completed' && runs === 0)) faults.push(`${marker} (${outcome}) ran ${runs} times`);
  }
  return { outcomes, faults };
}

/** Path of a file in the folder of the default session. */
export function sessionFile({ workspaceRoot }: TestCluster, name: string): string {
  return join(workspaceRoot, 'default', 'default', name);
}

export function linesOf(cluster: TestCluster, name: string): string[] {
  const file = sessionFile(cluster, name);
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
}

export function countsText(counts: ReadonlyMap<string, number>): string {
  return [...counts].map(([name, n]) => `${name} ${n}`).join(', ');
}

function runsOf(cluster: TestCluster, marker: string): number {
  return linesOf(cluster, LOG).filter((line) => line === marker).length;
}

function isCall(body: unknown): body is Call {
  return typeof body === 'object' && body !== null && 'id' in body && 'status' in body;
}
