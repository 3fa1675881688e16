import { Module } from '@nestjs/common';
import { GovernanceModule } from '../governance/governance.module.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { CallsModule } from '../calls/calls.module.js';
import { ApprovalsController } from './approvals.controller.js';
import { ApprovalHooks } from './approval-hooks.service.js';
import { ApprovalDeferrals } from './approval-deferrals.service.js';
import { ApprovalEvaluator } from './approval-evaluator.service.js';
import { ArgumentEditor } from './edit-arguments.service.js';
import { DecideApprovalService } from './decide-approval.service.js';
import { ListApprovalsService } from './list-approvals.service.js';
import { PendingApprovalsGauge } from './pending-approvals.service.js';

const shared = [ApprovalDeferrals, ApprovalEvaluator, DecideApprovalService, PendingApprovalsGauge];

/** Pending approvals, and decisions about them. */
@Module({
  imports: [GovernanceModule, SessionsModule, CallsModule],
  controllers: [ApprovalsController],
  providers: [...shared, ApprovalHooks, ArgumentEditor, ListApprovalsService],
  exports: shared,
})
export class ApprovalsModule {}
