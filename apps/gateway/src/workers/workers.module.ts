import { Module } from '@nestjs/common';
import { WorkerLivenessMonitor } from './worker-liveness-monitor.service.js';
import { WorkerRegistry } from './worker-registry.service.js';
import { ToolAvailabilityService } from './tool-availability.service.js';

const shared = [WorkerRegistry, ToolAvailabilityService];

/** Which workers are alive, which tools they can run, and the events of workers that were lost. */
@Module({ providers: [...shared, WorkerLivenessMonitor], exports: shared })
export class WorkersModule {}
