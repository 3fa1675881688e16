import { Module } from '@nestjs/common';
import { SessionsModule } from '../sessions/sessions.module.js';
import { SourcesModule } from '../sources/sources.module.js';
import { AttemptHost } from './bridge/attempt-host.service.js';
import { CallGrantsService } from './bridge/call-grants.service.js';
import { ForeignWorkers } from './bridge/foreign-workers.service.js';
import { WorkerAnnouncer } from './bridge/worker-announcer.service.js';
import { WorkerFloods } from './bridge/worker-floods.service.js';
import { WorkerOutputs } from './bridge/worker-outputs.service.js';
import { PollRelay } from './transport/poll-relay.service.js';
import { PollingWorkers } from './transport/polling-workers.service.js';
import { WorkerOutputController } from './transport/worker-output.controller.js';
import { WorkerGateway } from './transport/worker.gateway.js';
import { WorkersController } from './transport/workers.controller.js';

/** Workers in any language: `toolyard-worker/1`. */
@Module({
  imports: [SessionsModule, SourcesModule],
  controllers: [WorkersController, WorkerOutputController],
  providers: [
    AttemptHost,
    CallGrantsService,
    ForeignWorkers,
    PollingWorkers,
    PollRelay,
    WorkerAnnouncer,
    WorkerFloods,
    WorkerGateway,
    WorkerOutputs,
  ],
  exports: [ForeignWorkers],
})
export class ForeignWorkersModule {}
