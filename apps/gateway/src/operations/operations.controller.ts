import { Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import { POOLS, type Diagnostics, type Principal, type QueueStatus, type WorkerStatus } from '#contracts';
import { BullCallQueue } from '#queue';
import { WorkerRegistry } from '../workers/worker-registry.service.js';
import { DiagnosticsService } from './diagnostics.service.js';
import { CurrentPrincipal, RequireScope } from '../auth/principal.decorator.js';

/** Who is alive, how much waits, and who asks. */
@Controller('v1')
export class OperationsController {
  constructor(
    private readonly queue: BullCallQueue,
    private readonly workers: WorkerRegistry,
    private readonly diagnostics: DiagnosticsService,
  ) {}

  @RequireScope('read')
  @Get('queues')
  async queues(): Promise<{ queues: QueueStatus[] }> {
    return { queues: await Promise.all(POOLS.map((pool) => this.queue.stats(pool))) };
  }

  @RequireScope('read')
  @Get('workers')
  async list(@CurrentPrincipal() caller: Principal): Promise<{ workers: WorkerStatus[] }> {
    return { workers: await this.workers.alive(caller) };
  }

  @RequireScope('operate')
  @Post('workers/:id/drain')
  @HttpCode(202)
  drain(@CurrentPrincipal() caller: Principal, @Param('id') id: string): Promise<WorkerStatus> {
    return this.workers.drain(caller, id);
  }

  @RequireScope('read')
  @Get('whoami')
  whoAmI(@CurrentPrincipal() caller: Principal): Principal {
    return caller;
  }

  @RequireScope('operate')
  @Get('diagnostics')
  diagnose(): Promise<Diagnostics> {
    return this.diagnostics.read();
  }
}
