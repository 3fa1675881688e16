import { Module } from '@nestjs/common';
import { CallsModule } from '../calls/calls.module.js';
import { GovernanceModule } from '../governance/governance.module.js';
import { ScheduleRunner } from './schedule-runner.service.js';
import { ScheduleStore } from './schedule-store.service.js';
import { SchedulesController } from './schedules.controller.js';
import { SchedulesService } from './schedules.service.js';

/** Schedules, which submit calls at due times. */
@Module({
  imports: [GovernanceModule, CallsModule],
  controllers: [SchedulesController],
  providers: [ScheduleRunner, ScheduleStore, SchedulesService],
  exports: [SchedulesService],
})
export class SchedulesModule {}
