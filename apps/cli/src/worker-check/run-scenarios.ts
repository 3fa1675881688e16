import { Bench } from './bench.js';
import { CheckFailed } from './changes.js';
import { CAPACITY } from './scenarios/capacity.js';
import { FAULTS } from './scenarios/faults.js';
import { OUTPUTS } from './scenarios/outputs.js';
import type { Scenario } from './scenarios/scenario.js';
import { STOPS } from './scenarios/stops.js';
import { SUSPENSIONS } from './scenarios/suspensions.js';
import { VALUES } from './scenarios/values.js';

export const SCENARIOS: readonly Scenario[] = [...VALUES, ...OUTPUTS, ...STOPS, ...SUSPENSIONS, ...CAPACITY, ...FAULTS];

export interface ScenarioResult {
  readonly scenario: string;
  readonly passed: boolean;
  /** Why it failed. */
  readonly reason?: string;
  readonly ms: number;
}

/** Runs scenarios one after the other against one program. After a failed one the program is started again. */
export async function runScenarios(
  command: readonly string[],
  scenarios: readonly Scenario[],
  {
    timeoutMs,
    onResult,
    signal,
  }: { readonly timeoutMs: number; readonly onResult: (result: ScenarioResult) => void; readonly signal: AbortSignal },
): Promise<ScenarioResult[]> {
  const bench = new Bench(command, timeoutMs);
  const results: ScenarioResult[] = [];
  await bench.open();
  try {
    for (const scenario of scenarios) {
      if (signal.aborted) break;
      const result = await runOne(bench, scenario);
      results.push(result);
      onResult(result);
    }
  } finally {
    await bench.close();
  }
  return results;
}

async function runOne(bench: Bench, scenario: Scenario): Promise<ScenarioResult> {
  const { title, fresh = false } = scenario;
  if (fresh) await bench.kill();
  const from = bench.server.connections.length;
  bench.server.faults.length = 0;
  const startedAt = performance.now();
  const ended = (reason?: string): ScenarioResult => ({
    scenario: title,
    passed: reason === undefined,
    reason,
    ms: Math.round(performance.now() - startedAt),
  });
  try {
    await scenario.run(bench);
    const faults = [...bench.server.faults, ...bench.server.connections.slice(from).flatMap((connection) => connection.faults)];
    if (faults.length > 0) throw new CheckFailed(`The worker sent what the protocol does not have: ${faults.slice(0, 3).join('; ')}`);
    if (fresh) await bench.kill();
    return ended();
  } catch (error) {
    const result = ended(error instanceof Error ? error.message : String(error));
    await bench.kill();
    bench.server.up();
    if (error instanceof CheckFailed) return result;
    throw error;
  }
}
