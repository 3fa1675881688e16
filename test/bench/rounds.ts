import { measure, waitForQuiet, type Measured } from './figures.js';
import { median, runLoad, type Contender } from './load.js';

const WARM_UP = 3000;
/** Calls in flight, and which share of the calls: with one in flight fewer give as good a median. */
export const LOADS = { flood: [Number.POSITIVE_INFINITY, 1], one: [1, 0.2], sixtyFour: [64, 1] } as const;
export type Load = keyof typeof LOADS;

/** Results of one round by contender. */
export type Round = Readonly<Record<string, Measured>>;
export type Rounds = Readonly<Record<Load, readonly Round[]>>;

/**
 * All contenders in turn, round by round; who is first changes with each round. Every block begins when all of them are quiet, and
 * is charged with what its contender does until it is quiet again.
 */
export async function runRounds(
  contenders: Readonly<Record<string, Contender>>,
  loads: readonly Load[],
  rounds: number,
  calls: number,
): Promise<Rounds> {
  const all = Object.values(contenders);
  const names = Object.keys(contenders);
  for (const contender of all) await runLoad(contender, WARM_UP, 64);
  const runs: Record<Load, Round[]> = { flood: [], one: [], sixtyFour: [] };
  for (let round = 0; round < rounds; round++) {
    for (const load of loads) {
      const [inFlight, share] = LOADS[load];
      const measured: Record<string, Measured> = {};
      for (let turn = 0; turn < names.length; turn++) {
        const name = names[(turn + round) % names.length] ?? '';
        const contender = contenders[name];
        if (contender === undefined || contender.loads?.includes(load) === false) continue;
        await waitForQuiet(all);
        measured[name] = await measure(contender, calls * share, inFlight);
      }
      runs[load].push(measured);
    }
    console.error(`round ${round + 1} of ${rounds}`);
  }
  return runs;
}

/** The median over the rounds. */
export function over(rounds: readonly Round[], read: (round: Round) => number): number {
  return median(rounds.map(read));
}

/** The median of the ratios of two contenders in the same round. */
export function ratioOf(rounds: readonly Round[], ours: string, other: string, read: (run: Measured) => number): number {
  return over(rounds, (round) => read(of(round, ours)) / read(of(round, other)));
}

export function of(round: Round, name: string): Measured {
  const run = round[name];
  if (run === undefined) throw new Error(`${name} did not take part in this load.`);
  return run;
}
