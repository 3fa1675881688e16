import type { Bench } from '../bench.js';

export interface Scenario {
  /** What the worker has to do, in one line. */
  readonly title: string;
  /** The program is started for it, and ended after it. */
  readonly fresh?: boolean;
  /** @throws CheckFailed with what was expected and what came */
  run(bench: Bench): Promise<void>;
}
