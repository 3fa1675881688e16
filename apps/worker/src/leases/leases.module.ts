import { Module } from '@nestjs/common';
import { LeaseRenewer, renewInThread } from '#attempts';
import { logDiskFault } from '#platform';
import { WORKER_CONFIG, type WorkerConfig } from '../platform/worker.config.js';
import { LOGGER, type WorkerLog } from '../platform/worker.logger.js';

/** Renews the leases of the attempts of this worker, in a thread of its own. */
@Module({
  providers: [
    {
      provide: LeaseRenewer,
      inject: [WORKER_CONFIG, LOGGER],
      useFactory: ({ redisUrl, partitions, leaseMs, pools }: WorkerConfig, logger: WorkerLog) =>
        new LeaseRenewer(
          leaseSlots(pools),
          renewInThread({ redisUrl, partitions, leaseMs, name: 'worker' }, logDiskFault(logger.child({ write: 'lease renewal' }))),
          (error) => logger.error({ err: error }, 'lease renewal stopped; it is restarted'),
        ),
    },
  ],
  exports: [LeaseRenewer],
})
export class LeasesModule {}

/** Two leases for each task slot, the second for an aborted attempt whose tool still runs. */
function leaseSlots(pools: WorkerConfig['pools']): number {
  return 2 * pools.reduce((sum, { slots }) => sum + slots, 0) + 64;
}
