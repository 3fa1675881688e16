import { Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import { POOLS, type Diagnostics, type Principal, type QueueStatus, type WorkerStatus } from '#contracts';
import { BullCallQueue } from '#queue';
import { WorkerRoll } from '../workers/worker-roll.service.js';
import { DiagnosticsService } from '../lifecycle/diagnostics.service.js';
import { Caller, Needs } from './caller.decorator.js';

/** Who is alive, how much waits, and who asks. */
@Controller('v1')
export class OperationsController {
  constructor(
    private readonly queue: BullCallQueue,
    private readonly workers: WorkerRoll,
    private readonly diagnostics: DiagnosticsService,
  ) {}

  @Needs('read')
  @Get('queues')
  async queues(): Promise<{ queues: QueueStatus[] }> {
    return { queues: await Promise.all(POOLS.map((pool) => this.queue.depth(pool))) };
  }

  @Needs('read')
  @Get('workers')
  async list(@Caller() caller: Principal): Promise<{ workers: WorkerStatus[] }> {
    return { workers: await this.workers.alive(caller) };
  }

  @Needs('operate')
  @Post('workers/:id/drain')
  @HttpCode(202)
  drain(@Caller() caller: Principal, @Param('id') id: string): Promise<WorkerStatus> {
    return this.workers.drain(caller, id);
  }

  @Needs('read')
  @Get('whoami')
  whoAmI(@Caller() caller: Principal): Principal {
    return caller;
  }

  @Needs('operate')
  @Get('diagnostics')
  diagnose(): Promise<Diagnostics> {
    return this.diagnostics.look();
  }
}
