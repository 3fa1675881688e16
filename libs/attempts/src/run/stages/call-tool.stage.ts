import type { TurnData } from '#contracts';
import { isApplied } from '#event-log';
import type { AttemptRun, AttemptStage } from '../attempt-run.js';
import { CallContext } from '../call-context.js';
import { inDialect } from '../in-dialect.js';

/** Runs the tool. Its context has the abort signal, the deadline, and the sanitizer that all updates pass. */
export const callToolStage: AttemptStage = {
  name: 'call_tool',
  async run(run) {
    const { attempt, claimed, deps, inputs, sanitizer, tool, view } = run;
    const { args, workspace, resumed, egress } = inputs;
    sanitizer.start(tool, args, claimed.submitted.argumentsRedacted === true);
    attempt.throwIfAborted();
    const { traceparent } = run.trace ?? {};
    const { toolEnv } = deps.config;
    const context = new CallContext(
      attempt,
      claimed,
      { workspace, egress },
      toolEnv,
      sanitizer,
      deps.logger,
      traceparent,
      resumed,
      (turn, journalBytes = 0) => recordTurn(run, turn, journalBytes),
    );
    const source = (view ?? deps.tools.for(claimed.meta.tenantId)).source(tool.name);
    run.toolReached = true;
    run.toolOutput = await inDialect(claimed.submitted, args, context, () => source.call(tool.name, args, context));
  },
};

async function recordTurn({ attempt, deps, writer }: AttemptRun, turn: TurnData, journalBytes: number): Promise<void> {
  const answer = await writer.turn(turn, journalBytes, deps.forcedShutdown);
  attempt.throwIfAborted();
  if (!isApplied(answer)) throw new Error(`Event log rejected a turn: ${answer.code}.`);
}
