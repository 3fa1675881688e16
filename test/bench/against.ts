import { resolve } from 'node:path';
import type { Measured } from './figures.js';
import { median } from './load.js';
import { LOADS, runPaired } from './paired.js';
import type { StartRedis } from './processes.js';
import { startToolyard } from './toolyard.contender.js';

const FIGURES: Readonly<Record<string, (run: Measured) => number>> = {
  'gateway and worker, CPU µs a call': ({ cpu }) => (cpu['gateway'] ?? 0) + (cpu['worker'] ?? 0),
  'Redis, CPU µs a call': ({ cpu }) => cpu['redis'] ?? 0,
  'Redis commands a call': ({ commands }) => commands,
  'calls a second': ({ callsPerSecond }) => callsPerSecond,
  'p50, ms': ({ p50Ms }) => p50Ms,
};

/**
 * This release and the one that is built in `folder`, each with a Redis of its own, in turn round by round. The ratio is the
 * median of the rounds' ratios; beside it the lowest and the highest, which say how much of it is noise. There is no gate.
 */
export async function benchAgainst(startRedis: StartRedis, folder: string, rounds: number, calls: number): Promise<boolean> {
  const other = await startToolyard(startRedis, resolve(folder));
  try {
    const ours = await startToolyard(startRedis);
    try {
      const { runs } = await runPaired(other, ours, rounds, calls);
      for (const load of Object.keys(LOADS) as (keyof typeof LOADS)[]) {
        console.log(`\n${load}: this release, the other, ratio (lowest to highest of ${rounds} rounds)`);
        for (const [name, read] of Object.entries(FIGURES)) {
          const pairs = runs[load].map((round) => ({ ours: read(round.ours), other: read(round.raw) }));
          const ratios = pairs.map((pair) => pair.ours / pair.other);
          const [mine, theirs] = [median(pairs.map((pair) => pair.ours)), median(pairs.map((pair) => pair.other))];
          const range = `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`;
          console.log(`  ${name}: ${mine.toFixed(1)}, ${theirs.toFixed(1)}, ${median(ratios).toFixed(2)} (${range})`);
        }
      }
      return true;
    } finally {
      await ours.close();
    }
  } finally {
    await other.close();
  }
}
