import { Module } from '@nestjs/common';
import { GovernanceModule } from '../governance/governance.module.js';
import { WorkersModule } from '../workers/workers.module.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { CallsController } from './calls.controller.js';
import { QueriesController } from './queries.controller.js';
import { OutputController } from './output.controller.js';
import { ToolsController } from './tools.controller.js';
import { CallLimiter } from './admission/call-limiter.service.js';
import { ChildCallService } from './admission/child-call.service.js';
import { ReplayCallService } from './replay-call.service.js';
import { BulkCallsService } from './bulk-calls.service.js';
import { BeforeHooks } from './admission/before-hooks.service.js';
import { CallEvaluator } from './admission/call-evaluator.service.js';
import { EffectivePolicyService } from './admission/effective-policy.service.js';
import { CallReader } from './read/call-reader.service.js';
import { CancelCallService } from './cancel-call.service.js';
import { SubmitCallService } from './submit-call.service.js';

const shared = [BeforeHooks, CallEvaluator, EffectivePolicyService, CallReader, CancelCallService, SubmitCallService];

/** Submits, reads, cancels and replays calls. */
@Module({
  imports: [GovernanceModule, WorkersModule, SessionsModule],
  controllers: [CallsController, QueriesController, OutputController, ToolsController],
  providers: [...shared, CallLimiter, ChildCallService, ReplayCallService, BulkCallsService],
  exports: shared,
})
export class CallsModule {}
