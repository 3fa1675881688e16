import { Module } from '@nestjs/common';
import { GovernanceModule } from '../governance/governance.module.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { CallsModule } from '../calls/calls.module.js';
import { ApprovalsModule } from '../approvals/approvals.module.js';
import { BatchesController } from './batches.controller.js';
import { BatchCalls } from './batch-calls.service.js';
import { BatchCoordinator } from './batch-coordinator.service.js';
import { BatchReader } from './batch-reader.service.js';
import { BatchStore } from './batch-store.service.js';
import { CancelBatchService } from './cancel-batch.service.js';
import { CancelSessionService } from './cancel-session.service.js';
import { DeferredApprovals } from './deferred-approvals.service.js';
import { SteerSessionService } from './steer-session.service.js';
import { SubmitBatchService } from './submit-batch.service.js';

/** Batches of calls; steering and cancelling of sessions. */
@Module({
  imports: [GovernanceModule, SessionsModule, CallsModule, ApprovalsModule],
  controllers: [BatchesController],
  providers: [
    BatchCalls,
    BatchCoordinator,
    BatchReader,
    BatchStore,
    CancelBatchService,
    CancelSessionService,
    DeferredApprovals,
    SteerSessionService,
    SubmitBatchService,
  ],
  exports: [CancelSessionService, SteerSessionService],
})
export class BatchesModule {}
