import { Module } from '@nestjs/common';
import { WorkerLivenessMonitor } from './worker-liveness-monitor.service.js';
import { WorkerRegistry } from './worker-registry.service.js';
import { ToolAvailabilityService } from './tool-availability.service.js';

const shared = [WorkerRegistry, ToolAvailabilityService];

/** Live workers, availability of tools, and events of lost workers. */
@Module({ providers: [...shared, WorkerLivenessMonitor], exports: shared })
export class WorkersModule {}
