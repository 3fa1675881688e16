import { resolve } from 'node:path';
import { serverCpu, type Measured } from './figures.js';
import { median } from './load.js';
import { LOADS, of, runRounds, type Load } from './rounds.js';
import type { StartRedis } from './processes.js';
import { startToolyard } from './toolyard.contender.js';
import { historyCpu, startWholeRun } from './whole-run.js';

const FIGURES: Readonly<Record<string, (run: Measured) => number>> = {
  'gateway and worker, CPU µs a call': ({ cpu }) => (cpu['gateway'] ?? 0) + (cpu['worker'] ?? 0),
  'projector, CPU µs a call': ({ cpu }) => cpu['projector'] ?? 0,
  'all servers, CPU µs a call': serverCpu,
  'Redis, CPU µs a call': ({ cpu }) => cpu['redis'] ?? 0,
  'Redis commands a call': ({ commands }) => commands,
  'calls a second': ({ callsPerSecond }) => callsPerSecond,
  'p50, ms': ({ p50Ms }) => p50Ms,
};

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys are those of the type
const LOAD_NAMES = Object.keys(LOADS) as Load[];

/**
 * This release and the one that is built in `folder`, each with a Redis of its own, in turn round by round. The ratio is the
 * median of the rounds' ratios; beside it the lowest and the highest, which say how much of it is noise. There is no gate.
 */
export async function benchAgainst(startRedis: StartRedis, folder: string, rounds: number, calls: number): Promise<boolean> {
  const other = await startToolyard(startRedis, resolve(folder));
  try {
    const ours = await startToolyard(startRedis);
    try {
      const wholeRun = startWholeRun([ours, other]);
      const runs = await runRounds({ other, ours }, LOAD_NAMES, rounds, calls);
      for (const load of LOAD_NAMES) {
        console.log(`\n${load}: this release, the other, ratio (lowest to highest of ${rounds} rounds)`);
        for (const [name, read] of Object.entries(FIGURES)) {
          const pairs = runs[load].map((round) => ({ ours: read(of(round, 'ours')), other: read(of(round, 'other')) }));
          const ratios = pairs.map((pair) => pair.ours / pair.other);
          const [mine, theirs] = [median(pairs.map((pair) => pair.ours)), median(pairs.map((pair) => pair.other))];
          const range = `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`;
          console.log(`  ${name}: ${mine.toFixed(1)}, ${theirs.toFixed(1)}, ${median(ratios).toFixed(2)} (${range})`);
        }
      }
      const [mine = {}, theirs = {}] = await wholeRun();
      console.log('\nwhole run, until the log was sealed: this release, the other; CPU µs a call');
      for (const name of Object.keys(mine)) console.log(`  ${name}: ${(mine[name] ?? 0).toFixed(1)}, ${(theirs[name] ?? 0).toFixed(1)}`);
      console.log(`  history and archive: ${historyCpu(mine).toFixed(1)}, ${historyCpu(theirs).toFixed(1)}`);
      return true;
    } finally {
      await ours.close();
    }
  } finally {
    await other.close();
  }
}
