import type { CommandContext } from '../command-context.js';
import { EXIT } from '../exit-code.js';
import { UsageError } from '../usage-error.js';
import { runScenarios, SCENARIOS, type ScenarioResult } from '../worker-check/run-scenarios.js';

export interface WorkerCheckFlags {
  readonly only?: string;
  readonly timeout: number;
}

/** Plays every scenario of `toolyard-worker/1` against a worker program. Needs no gateway. */
export async function workerCheck(
  { terminal, json, interrupts }: Pick<CommandContext, 'terminal' | 'json' | 'interrupts'>,
  command: readonly string[],
  { only, timeout }: WorkerCheckFlags,
): Promise<number> {
  if (command.length === 0)
    throw new UsageError('Expected the command of a worker after --, such as: toolyard worker-check -- python3 worker.py');
  const scenarios = SCENARIOS.filter(({ title }) => only === undefined || title.includes(only));
  if (scenarios.length === 0) throw new UsageError(`No title of a scenario contains ${JSON.stringify(only)}`);
  const onResult = ({ passed, scenario, reason, ms }: ScenarioResult) => {
    if (json) return;
    const mark = passed ? terminal.colour('green', 'pass') : terminal.colour('red', 'FAIL');
    terminal.line(`${mark}  ${scenario} (${ms} ms)${reason === undefined ? '' : `\n      ${reason}`}`);
  };
  const results = await runScenarios(command, scenarios, { timeoutMs: timeout * 1_000, onResult, signal: interrupts.signal });
  const failed = results.filter(({ passed }) => !passed).length;
  if (json) terminal.json({ protocol: 'toolyard-worker/1', passed: results.length - failed, failed, scenarios: results });
  else terminal.line(`${results.length - failed} passed, ${failed} failed`);
  if (interrupts.signal.aborted) return EXIT.interrupted;
  return failed === 0 ? EXIT.completed : EXIT.failed;
}
