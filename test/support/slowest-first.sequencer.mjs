import TestSequencer from '@jest/test-sequencer';

/** Files that take longest, by the end of their path. Started last, one of them would hold up the end of a run. */
const SLOWEST = [
  'test/e2e/dashboard/pages.spec.ts',
  'test/faults/worker-killed.spec.ts',
  'test/deploy/agent-sdks.spec.ts',
  'test/deploy/packages.spec.ts',
  'test/faults/approval-restart.spec.ts',
  'test/faults/archive-s3.spec.ts',
  'libs/tools/src/builtin.modes.spec.ts',
  'test/e2e/cli.modes.spec.ts',
  'test/e2e/limits.spec.ts',
  'test/e2e/traces.spec.ts',
  'test/e2e/schedules.spec.ts',
  'test/e2e/openapi.spec.ts',
  'test/e2e/many-agents.spec.ts',
  'test/deploy/mcp-conformance-client.spec.ts',
  'test/e2e/dashboard/approvals.spec.ts',
  'test/faults/replica-away.spec.ts',
  'test/deploy/openapi-github.spec.ts',
  'libs/archive/src/verify/manipulations.modes.spec.ts',
  'test/faults/redis-killed-at-start.spec.ts',
  'test/contracts/queue.spec.ts',
  'test/contracts/event-log.spec.ts',
  'test/e2e/sources.spec.ts',
  'test/e2e/sub-agents.spec.ts',
  'test/e2e/file-tools.spec.ts',
  'libs/tools/src/shell/sandbox.spec.ts',
  'test/e2e/examples.spec.ts',
  'test/e2e/tool-readiness.spec.ts',
  'test/e2e/worker.spec.ts',
  'test/e2e/hooks.spec.ts',
  'test/e2e/claude-hook.spec.ts',
  'test/e2e/local-installation.spec.ts',
  'test/e2e/batches-on-workers.spec.ts',
  'test/e2e/standalone-refusals.spec.ts',
  'test/e2e/standalone.spec.ts',
  'test/e2e/foreign-workers.spec.ts',
  'test/e2e/policy.spec.ts',
  'test/e2e/first-call.spec.ts',
  'test/e2e/metrics.spec.ts',
  'test/e2e/mcp-questions.spec.ts',
  'test/e2e/worker-drain.spec.ts',
  'libs/client/src/browser.spec.ts',
  'apps/gateway/src/operations/docs/documents.spec.ts',
];

/** The slowest files first; then as Jest does: by the last run's times, on a fresh machine by size. */
export default class SlowestFirst extends TestSequencer {
  sort(tests) {
    const rank = ({ path }) => {
      const index = SLOWEST.findIndex((file) => path.endsWith(file));
      return index === -1 ? SLOWEST.length : index;
    };
    const sorted = /** @type {typeof tests} */ (super.sort(tests));
    return sorted.toSorted((a, b) => rank(a) - rank(b));
  }
}
