import type { Bench } from '../bench.js';

export interface Scenario {
  /** Required behaviour of the worker, in one line. */
  readonly title: string;
  /** The program is started for it, and ended after it. */
  readonly fresh?: boolean;
  /** @throws CheckFailed with the expected and the received value */
  run(bench: Bench): Promise<void>;
}
