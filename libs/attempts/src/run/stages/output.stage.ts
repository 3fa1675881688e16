import { telemetry } from '#observability';
import type { AttemptStage } from '../attempt-run.js';
import { OutputSanitizer } from '../output-sanitizer.js';
import { UpdateStream } from '../update-stream.js';

/** Opens the path of the tool's output: sanitizer, then update stream (filtered by hooks), then the writer to the log. */
export const outputStage: AttemptStage = {
  name: 'output',
  run(run) {
    const { attempt, claimed, deps, hooks, options, writer } = run;
    const sink = {
      update: writer.update.bind(writer),
      progress: writer.progress.bind(writer),
      coalesced: () => telemetry.updatesCoalesced.emit({ where: 'worker', n: 1 }),
    };
    const before = options.takenOver === undefined ? { digest: claimed.updates, sent: 0 } : beforeTakeover(claimed.updates);
    run.updates = new UpdateStream(sink, deps.clock, before.digest, hooks.updates, before.sent, deps.memory);
    run.sanitizer = new OutputSanitizer(run.redaction, run.updates, deps.logger, attempt.callId);
  },
};

/**
 * Digest and count before a takeover. The digest of an attempt cannot be continued in another process: after earlier updates it
 * is unknown.
 */
function beforeTakeover(updates: string): { digest: string; sent: number } {
  const sent = Number.parseInt(updates, 10) || 0;
  return { digest: sent === 0 ? updates : '', sent };
}
