import { Controller, Param } from '@nestjs/common';
import { POOLS, ROUTES, type Diagnostics, type Principal, type QueueStatus, type WorkerStatus } from '#contracts';
import { BullCallQueue } from '#queue';
import { WorkerRegistry } from '../workers/worker-registry.service.js';
import { DiagnosticsService } from './diagnostics.service.js';
import { Endpoint } from '../auth/endpoint.decorator.js';
import { CurrentPrincipal } from '../auth/principal.decorator.js';

/** HTTP controller of workers, queues and diagnostics. */
@Controller()
export class OperationsController {
  constructor(
    private readonly queue: BullCallQueue,
    private readonly workers: WorkerRegistry,
    private readonly diagnostics: DiagnosticsService,
  ) {}

  @Endpoint(ROUTES.listQueues)
  async queues(): Promise<{ queues: QueueStatus[] }> {
    return { queues: await Promise.all(POOLS.map((pool) => this.queue.stats(pool))) };
  }

  @Endpoint(ROUTES.listWorkers)
  async list(@CurrentPrincipal() caller: Principal): Promise<{ workers: WorkerStatus[] }> {
    return { workers: await this.workers.alive(caller) };
  }

  @Endpoint(ROUTES.drainWorker)
  drain(@CurrentPrincipal() caller: Principal, @Param('id') id: string): Promise<WorkerStatus> {
    return this.workers.drain(caller, id);
  }

  @Endpoint(ROUTES.whoAmI)
  whoAmI(@CurrentPrincipal() caller: Principal): Principal {
    return caller;
  }

  @Endpoint(ROUTES.getDiagnostics)
  diagnose(): Promise<Diagnostics> {
    return this.diagnostics.read();
  }
}
