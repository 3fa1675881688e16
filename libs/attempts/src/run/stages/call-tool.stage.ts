import type { AttemptStage } from '../attempt-run.js';
import { CallContext } from '../call-context.js';

/** Runs the tool. Its context has the abort signal, the deadline, and the sanitizer as the only way out for updates. */
export const callToolStage: AttemptStage = {
  name: 'call_tool',
  async run(run) {
    const { attempt, claimed, deps, inputs, sanitizer, tool, view } = run;
    const { args, workspace } = inputs;
    sanitizer.start(tool, args, claimed.submitted.argumentsRedacted === true);
    attempt.throwIfAborted();
    const context = new CallContext(attempt, claimed, workspace, deps.config.toolEnv, sanitizer, deps.logger, run.trace?.traceparent);
    const source = (view ?? deps.tools.for(claimed.meta.tenantId)).source(tool.name);
    run.toolOutput = await source.call(tool.name, args, context);
  },
};
