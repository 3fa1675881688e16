import { Module } from '@nestjs/common';
import { GovernanceModule } from '../governance/governance.module.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { WorkersModule } from '../workers/workers.module.js';
import { AdmissionModule } from './admission/admission.module.js';
import { BulkCallsService } from './bulk-calls.service.js';
import { CallTracer } from './call-tracer.service.js';
import { CallsController } from './calls.controller.js';
import { CancelCallService } from './cancel-call.service.js';
import { DebugLogService } from './debug/debug-log.service.js';
import { ExportCalls } from './export/export-calls.service.js';
import { ExportController } from './export/export.controller.js';
import { EraseCallService } from './erase-call.service.js';
import { GiveInputService } from './give-input.service.js';
import { OutputController } from './output.controller.js';
import { QueriesController } from './queries.controller.js';
import { ReplayCallService } from './replay-call.service.js';
import { TestPolicyService } from './test-policy.service.js';
import { SubmitCallService } from './submit-call.service.js';
import { ToolCatalog } from './tool-catalog.service.js';
import { ToolsController } from './tools.controller.js';

const shared = [CallTracer, CancelCallService, GiveInputService, SubmitCallService, ToolCatalog];

/** Submits, reads, cancels and replays calls. */
@Module({
  imports: [GovernanceModule, WorkersModule, SessionsModule, AdmissionModule],
  controllers: [CallsController, QueriesController, ExportController, OutputController, ToolsController],
  providers: [...shared, DebugLogService, ReplayCallService, EraseCallService, BulkCallsService, ExportCalls, TestPolicyService],
  exports: [...shared, AdmissionModule],
})
export class CallsModule {}
