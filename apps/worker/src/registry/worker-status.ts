import type { InFlightAttempts, ToolCallProcessor } from '#attempts';
import type { WorkerStatus } from '#contracts';
import type { Memory } from '#memory';
import { type SandboxRegistry, findExecutable } from '#sandbox';
import { programStatus } from '#tools';
import type { WorkerState } from '../platform/worker-state.js';
import type { DiskSpace } from './disk-space.js';
import { hostStatus } from './host-status.js';

/** The most running calls that are listed by id. */
const CALLS_NAMED = 200;

/** This worker as `GET /v1/workers` shows it. */
export function workerStatus(
  id: string,
  state: WorkerState,
  processor: ToolCallProcessor,
  running: InFlightAttempts,
  sandboxes: SandboxRegistry,
  disk: DiskSpace,
  memory: Memory | undefined,
): WorkerStatus {
  const room = disk.latest;
  const commands = sandboxes.for('shell');
  return {
    id,
    startedAt: state.startedAt.toISOString(),
    seenAt: new Date().toISOString(),
    draining: state.draining,
    pools: processor.slots(),
    calls: running
      .all()
      .filter((attempt) => attempt.claimed)
      .slice(0, CALLS_NAMED)
      .map((attempt) => attempt.callId),
    sandbox: sandboxes.status(),
    search: { ok: findExecutable(['rg']) !== undefined },
    parts: {
      memory: memory?.status() ?? { ok: false, reason: 'DATABASE_URL is not set for the workers' },
      powershell: programStatus(commands, 'powershell'),
      aws: programStatus(commands, 'aws'),
    },
    host: hostStatus(),
    ...(room === undefined ? {} : { disk: room }),
  };
}
