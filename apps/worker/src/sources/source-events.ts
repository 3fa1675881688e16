import { workerOrigin } from '#attempts';
import { SystemEventLog } from '#event-log';
import type { RedisConnection } from '#redis';
import type { ReportSource } from '#sources';
import type { WorkerConfig } from '../platform/worker.config.js';
import type { WorkerLog } from '../platform/worker.logger.js';

/** Writes events of sources to the log. A failed write only loses the event: the catalog is authoritative. */
export function sourceEvents(
  redis: RedisConnection,
  { id, partitions }: Pick<WorkerConfig, 'id' | 'partitions'>,
  logger: Pick<WorkerLog, 'debug'>,
): ReportSource {
  const events = new SystemEventLog(redis, partitions);
  return (source, type, data) =>
    void events
      .ofSource(source, type, data, workerOrigin(id))
      .catch((error: unknown) => logger.debug({ err: error, type, source }, 'an event of a source could not be written'));
}
