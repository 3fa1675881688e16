import { cpus, totalmem } from 'node:os';
import { benchAgainst } from './against.js';
import type { Measured } from './figures.js';
import { measureFront } from './front.js';
import { benchList } from './list.js';
import type { Contender } from './load.js';
import type { StartRedis } from './processes.js';
import { startOurQueue, startRawInProcess, startRawQueue } from './queue.contender.js';
import { printTable } from './report.js';
import { of, over, ratioOf, runRounds, type Rounds } from './rounds.js';
import { startToolyard } from './toolyard.contender.js';
import { measureUpdates } from './updates.js';
import { verdicts, type Figures } from './verdicts.js';
import { startWholeRun } from './whole-run.js';

/**
 * Measures Toolyard against raw BullMQ in the same run, round by round; what counts is the median of the rounds' ratios.
 * `--quick` for development: fewer calls and rounds. `--queue` adds the queue library alone, with both backends, and
 * leaves out the rest; `--only list` asks questions over 1,000,000 stored calls and leaves out the rest; `--against <folder>`
 * compares with the release that is built in a folder. Answers whether every gate holds.
 */
export async function bench(startRedis: StartRedis, args: readonly string[]): Promise<boolean> {
  const quick = args.includes('--quick');
  const other = args.includes('--against') ? args[args.indexOf('--against') + 1] : undefined;
  if (args.includes('--against') && other === undefined) throw new Error('Expected a folder after --against: the other release, built.');
  const calls = quick ? 3000 : 10_000;
  const rounds = quick ? 2 : other === undefined ? 5 : 7;
  console.log(
    `${cpus().length} × ${cpus()[0]?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.versions.node}; ${rounds} rounds of ${calls} calls, AOF always on both sides`,
  );

  if (other !== undefined) return benchAgainst(startRedis, other, rounds, calls);
  if (args.includes('list')) return benchList(startRedis);
  if (args.includes('--queue')) return benchQueues(startRedis, rounds, calls);
  const held = await benchToolyard(startRedis, rounds, calls, quick);
  return quick ? held : (await benchList(startRedis)) && held;
}

async function benchToolyard(startRedis: StartRedis, rounds: number, calls: number, quick: boolean): Promise<boolean> {
  const everysec = await benchEverysec(() => startRedis('everysec'), rounds, calls);
  const started: Contender[] = [];
  try {
    const inProcess = await startRawInProcess(startRedis);
    started.push(inProcess);
    const piped = await startRawQueue(startRedis);
    started.push(piped);
    const toolyard = await startToolyard(startRedis);
    started.push(toolyard);
    const wholeRun = startWholeRun([toolyard]);
    const always = await runRounds({ inProcess, piped, toolyard, batches: toolyard.batches }, ['flood', 'one', 'sixtyFour'], rounds, calls);
    const [whole = {}] = await wholeRun();
    const front = await measureFront(toolyard, quick ? 6000 : 20_000);
    const updates = await measureUpdates(toolyard, 10_000, 100);
    const figures: Figures = { always, everysec, whole, front, updates };
    const judged = verdicts(figures);
    printTable(figures, judged);
    console.log(JSON.stringify({ bench: 'toolyard', at: new Date().toISOString(), verdicts: judged, ...figures }));
    return judged.every(({ verdict }) => verdict !== 'FAILED');
  } finally {
    for (const contender of started) await contender.close();
  }
}

/** Cost of an installation that may lose its last second. */
async function benchEverysec(startRedis: StartRedis, rounds: number, calls: number): Promise<Rounds> {
  const piped = await startRawQueue(startRedis);
  try {
    const toolyard = await startToolyard(startRedis);
    try {
      return await runRounds({ piped, toolyard }, ['flood', 'sixtyFour'], Math.min(rounds, 3), calls);
    } finally {
      await toolyard.close();
    }
  } finally {
    await piped.close();
  }
}

async function benchQueues(startRedis: StartRedis, rounds: number, calls: number): Promise<boolean> {
  const piped = await startRawQueue(startRedis);
  for (const backend of ['batching', 'stock'] as const) {
    const queue = await startOurQueue(startRedis, backend);
    const runs = await runRounds({ piped, queue }, ['flood', 'one', 'sixtyFour'], rounds, calls);
    await queue.close();
    for (const [load, all] of Object.entries(runs)) {
      const mid = (name: string, read: (run: Measured) => number) => over(all, (round) => read(of(round, name)));
      const both = (read: (run: Measured) => number) => `${mid('queue', read).toFixed(2)} (raw ${mid('piped', read).toFixed(2)})`;
      console.log(
        `${queue.name}, ${load}: ${ratioOf(all, 'queue', 'piped', ({ callsPerSecond }) => callsPerSecond).toFixed(2)} × raw; ` +
          `calls/s ${both((run) => run.callsPerSecond)}, p50 ${both((run) => run.p50Ms)} ms, p99 ${both((run) => run.p99Ms)} ms, ` +
          `Redis commands ${both((run) => run.commands)}`,
      );
    }
  }
  await piped.close();
  return true;
}
