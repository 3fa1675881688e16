import { availableParallelism, freemem, hostname, loadavg, totalmem } from 'node:os';
import type { WorkerStatus } from '#contracts';

/** Machine of this worker and its load. */
export function hostStatus(): NonNullable<WorkerStatus['host']> {
  return {
    name: hostname(),
    cores: availableParallelism(),
    load: Math.round((loadavg()[0] ?? 0) * 100) / 100,
    freeBytes: freemem(),
    totalBytes: totalmem(),
  };
}
