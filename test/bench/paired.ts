import { measure } from './figures.js';
import { median, runLoad, type Contender } from './load.js';
import type { Paired } from './report.js';

const WARM_UP = 3000;
const FLOOD = Number.POSITIVE_INFINITY;
/** A run with one call in flight has as many latencies as it has calls: fewer do. */
export const LOADS = { flood: [FLOOD, 1], one: [1, 0.2], sixteen: [16, 1], sixtyFour: [64, 1] } as const;

/** Both contenders in turn, round by round; who is first changes with each round. */
export async function runPaired(raw: Contender, ours: Contender, rounds: number, calls: number): Promise<Paired> {
  for (const contender of [raw, ours]) await runLoad(contender, WARM_UP, 64);
  const runs: Paired['runs'] = { flood: [], one: [], sixteen: [], sixtyFour: [] };
  for (let round = 0; round < rounds; round++) {
    for (const load of Object.keys(LOADS) as (keyof typeof LOADS)[]) {
      const [inFlight, share] = LOADS[load];
      const first = round % 2 === 0 ? raw : ours;
      const one = await measure(first, calls * share, inFlight);
      const other = await measure(first === raw ? ours : raw, calls * share, inFlight);
      runs[load].push(first === raw ? { raw: one, ours: other } : { raw: other, ours: one });
    }
    console.error(`round ${round + 1} of ${rounds}`);
  }
  const ratioOf = (load: keyof typeof LOADS) => median(runs[load].map((round) => round.ours.callsPerSecond / round.raw.callsPerSecond));
  return { runs, ratios: { flood: ratioOf('flood'), one: ratioOf('one'), sixteen: ratioOf('sixteen'), sixtyFour: ratioOf('sixtyFour') } };
}
