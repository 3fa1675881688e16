import { ToolyardError } from '#client';
import type { WorkerStatus } from '#contracts';
import type { CommandContext } from '../command-context.js';
import { EXIT } from '../exit-code.js';
import { table } from '../terminal/table.js';
import { UsageError } from '../usage-error.js';
import type { Add, Start } from './command-registration.js';

export function addWorkers(add: Add, start: Start): void {
  add('workers', 'workers with what they serve and run').action(() => start(workers));
  add('drain', 'let workers take no more calls, and wait until those that they run have ended (scope operate)')
    .argument('<worker-ids...>')
    .option('--no-wait', 'do not wait')
    .action((ids: string[], flags: { wait: boolean }) => start((context) => drain(context, ids, flags)));
}

/** Workers with their pools, tools and running calls. */
async function workers({ client, terminal, json }: CommandContext): Promise<number> {
  const found = await client.workers.list();
  if (json) for (const worker of found) terminal.json(worker);
  else for (const line of table(found.map(row), terminal.width)) terminal.line(line);
  if (found.length === 0 && !json) terminal.note('No worker was heard of lately.');
  return EXIT.completed;
}

function row({ id, draining, pools, host }: WorkerStatus): string[] {
  const served = pools.map(({ pool, slots, running }) => `${pool} ${running}/${slots}`).join(', ');
  return [
    id,
    draining ? 'draining' : 'ready',
    served,
    host === undefined ? '' : `${host.name}, load ${host.load.toFixed(1)} of ${host.cores}`,
  ];
}

/** Drains workers, and waits until their running calls have ended; ignores calls that others start. */
async function drain(context: CommandContext, ids: readonly string[], { wait }: { readonly wait: boolean }): Promise<number> {
  const { client, terminal, json, interrupts } = context;
  for (const id of ids) await drainOne(context, id);
  for (let busy = wait; busy && !interrupts.happened;) {
    const left = (await client.workers.list()).filter(({ id }) => ids.includes(id));
    const running = left.flatMap(({ calls }) => calls).length;
    busy = left.some(({ draining, calls }) => !draining || calls.length > 0);
    if (!busy) break;
    terminal.showStatus(`${running} ${running === 1 ? 'call runs' : 'calls run'} on`);
    await pause(interrupts.signal);
  }
  terminal.clearStatus();
  if (interrupts.happened) return EXIT.interrupted;
  if (json) for (const worker of (await client.workers.list()).filter(({ id }) => ids.includes(id))) terminal.json(worker);
  else terminal.note(`${ids.join(', ')}: ${wait ? 'drained' : 'draining'}. A worker stays so until its process ends.`);
  return EXIT.completed;
}

async function drainOne({ client }: CommandContext, id: string): Promise<void> {
  try {
    await client.workers.drain(id);
  } catch (error) {
    if (!(error instanceof ToolyardError) || error.status !== 404) throw error;
    const known = (await client.workers.list()).map((worker) => worker.id);
    throw new UsageError(`There is no worker ${JSON.stringify(id)}; there are: ${known.join(', ') || 'none'}`);
  }
}

const PERIOD_MS = 500;

function pause(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, PERIOD_MS);
    signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true });
  });
}
