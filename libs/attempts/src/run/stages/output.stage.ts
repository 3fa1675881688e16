import { telemetry } from '#observability';
import type { AttemptStage } from '../attempt-run.js';
import { OutputSanitizer } from '../output-sanitizer.js';
import { UpdateStream } from '../update-stream.js';

/**
 * Opens the way of the tool's output: sanitizer, then update stream (filtered by hooks), then the writer to the log.
 */
export const outputStage: AttemptStage = {
  name: 'output',
  run(run) {
    const { attempt, claimed, deps, hooks, writer } = run;
    const sink = {
      update: writer.update.bind(writer),
      progress: writer.progress.bind(writer),
      coalesced: () => telemetry.updatesCoalesced.emit({ where: 'worker', n: 1 }),
    };
    run.updates = new UpdateStream(sink, deps.clock, claimed.updates, hooks.updates);
    run.sanitizer = new OutputSanitizer(run.redaction, run.updates, deps.logger, attempt.callId);
  },
};
