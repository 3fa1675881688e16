import { cpus, totalmem } from 'node:os';
import { benchAgainst } from './against.js';
import type { Measured } from './figures.js';
import { measureFront } from './front.js';
import { benchList } from './list.js';
import { median, type Contender } from './load.js';
import { LOADS, runPaired } from './paired.js';
import type { StartRedis } from './processes.js';
import { startOurQueue, startRawQueue } from './queue.contender.js';
import { printTable, verdicts, type Figures } from './report.js';
import { startToolyard, type ToolyardUnderTest } from './toolyard.contender.js';
import { measureUpdates } from './updates.js';

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
  const raw = await startRawQueue(startRedis);
  try {
    if (args.includes('--queue')) return await benchQueues(raw, startRedis, rounds, calls);
    const toolyard = await startToolyard(startRedis);
    try {
      const held = await benchToolyard(raw, toolyard, rounds, calls, quick);
      return quick ? held : (await benchList(startRedis)) && held;
    } finally {
      await toolyard.close();
    }
  } finally {
    await raw.close();
  }
}

async function benchToolyard(raw: Contender, toolyard: ToolyardUnderTest, rounds: number, calls: number, quick: boolean): Promise<boolean> {
  const paired = await runPaired(raw, toolyard, rounds, calls);
  const front = await measureFront(toolyard, quick ? 6000 : 20_000);
  const updates = await measureUpdates(toolyard, 10_000, 100);
  const figures: Figures = { paired, front, updates };
  const judged = verdicts(figures);
  printTable(figures, judged);
  console.log(JSON.stringify({ bench: 'toolyard', at: new Date().toISOString(), verdicts: judged, front, updates, runs: paired.runs }));
  return judged.every(({ verdict }) => verdict !== 'FAILED');
}

async function benchQueues(raw: Contender, startRedis: StartRedis, rounds: number, calls: number): Promise<boolean> {
  for (const backend of ['batching', 'stock'] as const) {
    const queue = await startOurQueue(startRedis, backend);
    const { runs, ratios } = await runPaired(raw, queue, rounds, calls);
    await queue.close();
    for (const load of Object.keys(LOADS) as (keyof typeof LOADS)[]) {
      const of = (side: 'raw' | 'ours', read: (run: Measured) => number) => median(runs[load].map((round) => read(round[side])));
      console.log(
        `${queue.name}, ${load}: ${ratios[load].toFixed(2)} × raw; calls/s ${of('ours', (run) => run.callsPerSecond).toFixed(0)} (raw ${of('raw', (run) => run.callsPerSecond).toFixed(0)}), ` +
          `p50 ${of('ours', (run) => run.p50Ms).toFixed(2)} (${of('raw', (run) => run.p50Ms).toFixed(2)}) ms, p99 ${of('ours', (run) => run.p99Ms).toFixed(2)} (${of('raw', (run) => run.p99Ms).toFixed(2)}) ms, ` +
          `Redis commands ${of('ours', (run) => run.commands).toFixed(1)} (${of('raw', (run) => run.commands).toFixed(1)})`,
      );
    }
  }
  return true;
}
