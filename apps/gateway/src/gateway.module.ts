import { Module, type DynamicModule, type Type } from '@nestjs/common';
import { APP_FILTER, APP_GUARD } from '@nestjs/core';
import type { MetricsProbes } from '#metrics';
import { ToolsModule } from '#tools';
import { WaitingApprovals } from './approvals/waiting-approvals.service.js';
import { KeyRing } from './auth/key-ring.service.js';
import { OpenSockets } from './auth/open-sockets.service.js';
import { OriginPolicy } from './auth/origin-policy.service.js';
import { RateLimits } from './auth/rate-limits.service.js';
import { BatchCalls } from './batches/batch-calls.service.js';
import { BatchNews } from './batches/batch-news.service.js';
import { SessionCancels } from './batches/session-cancels.service.js';
import { BatchReader } from './batches/batch-reader.service.js';
import { BatchRuns } from './batches/batch-runs.service.js';
import { BatchStore } from './batches/batch-store.service.js';
import { CancelBatchService } from './batches/cancel-batch.service.js';
import { CancelSessionService } from './batches/cancel-session.service.js';
import { HeldApprovals } from './batches/held-approvals.service.js';
import { SteerSessionService } from './batches/steer-session.service.js';
import { SubmitBatchService } from './batches/submit-batch.service.js';
import { BulkCallsService } from './calls/bulk-calls.service.js';
import { ApprovalJudge } from './calls/approval-judge.service.js';
import { CallJudge } from './calls/call-judge.service.js';
import { CallReader } from './calls/call-reader.service.js';
import { CancelCallService } from './calls/cancel-call.service.js';
import { DecideApprovalService } from './calls/decide-approval.service.js';
import { ParentCalls } from './calls/parent-calls.service.js';
import { ReplayCallService } from './calls/replay-call.service.js';
import { SubmitCallService } from './calls/submit-call.service.js';
import { DurableWrites } from './durability/durable-writes.service.js';
import { GATEWAY_CONFIG, type GatewayConfig } from './gateway.config.js';
import { BatchesController } from './http/batches.controller.js';
import { CallsController } from './http/calls.controller.js';
import { EventsController } from './http/events.controller.js';
import { HealthController } from './http/health.controller.js';
import { LaterController } from './http/later.controller.js';
import { OperationsController } from './http/operations.controller.js';
import { OutputController } from './http/output.controller.js';
import { QueriesController } from './http/queries.controller.js';
import { PrincipalGuard } from './http/principal.guard.js';
import { ProblemFilter } from './http/problem.filter.js';
import { SessionsController } from './http/sessions.controller.js';
import { ToolsController } from './http/tools.controller.js';
import { ApprovalHooks } from './hooks/approval-hooks.service.js';
import { BeforeHooks } from './hooks/before-hooks.service.js';
import { HookBook } from './hooks/hook-book.service.js';
import { infrastructure } from './infrastructure.js';
import { CallLimiter } from './limits/call-limiter.service.js';
import { LimitSettings } from './limits/limit-settings.service.js';
import { DiagnosticsService } from './lifecycle/diagnostics.service.js';
import { Drain } from './lifecycle/drain.service.js';
import { Readiness } from './lifecycle/readiness.service.js';
import { CallRulesService } from './policy/call-rules.service.js';
import { FileDenials } from './policy/file-denials.service.js';
import { ConfigReload } from './policy/config-reload.service.js';
import { Rulebook } from './policy/rulebook.service.js';
import { SafetyEdition } from './safety/safety-edition.service.js';
import { SessionNews } from './sessions/session-news.service.js';
import { SessionStore } from './sessions/session-store.service.js';
import { EventStream } from './sse/event-stream.js';
import { StreamGateway } from './ws/stream.gateway.js';
import { MORE_PROBES } from './tokens.js';
import { LostWorkers } from './workers/lost-workers.service.js';
import { ToolReadiness } from './workers/tool-readiness.service.js';
import { WorkerRoll } from './workers/worker-roll.service.js';

/** The gateway, whole: doors, the use cases behind them, and what they stand on. Nothing is request-scoped. */
@Module({})
export class GatewayModule {
  static async forRoot(config: GatewayConfig, moreProbes: MetricsProbes = {}, tools: readonly Type[] = []): Promise<DynamicModule> {
    return {
      module: GatewayModule,
      imports: [await ToolsModule.forRoot({ tools })],
      controllers: [
        CallsController,
        BatchesController,
        OutputController,
        EventsController,
        ToolsController,
        SessionsController,
        OperationsController,
        QueriesController,
        LaterController,
        HealthController,
      ],
      providers: [
        { provide: GATEWAY_CONFIG, useValue: config },
        { provide: MORE_PROBES, useValue: moreProbes },
        ...infrastructure,
        DurableWrites,
        // who asks
        KeyRing,
        RateLimits,
        OpenSockets,
        OriginPolicy,
        { provide: APP_GUARD, useClass: PrincipalGuard },
        { provide: APP_FILTER, useClass: ProblemFilter },
        // what they want
        CallJudge,
        ApprovalJudge,
        CallLimiter,
        LimitSettings,
        SubmitCallService,
        CallReader,
        CancelCallService,
        ParentCalls,
        DecideApprovalService,
        ReplayCallService,
        BulkCallsService,
        SessionStore,
        SessionNews,
        WaitingApprovals,
        // by which rules
        Rulebook,
        SafetyEdition,
        CallRulesService,
        FileDenials,
        HookBook,
        BeforeHooks,
        ApprovalHooks,
        ConfigReload,
        WorkerRoll,
        ToolReadiness,
        LostWorkers,
        // several of them at once
        SubmitBatchService,
        BatchReader,
        BatchStore,
        BatchCalls,
        BatchNews,
        SessionCancels,
        BatchRuns,
        HeldApprovals,
        SteerSessionService,
        CancelBatchService,
        CancelSessionService,
        // who watches
        EventStream,
        StreamGateway,
        // whether this process is here for it
        Drain,
        Readiness,
        DiagnosticsService,
      ],
    };
  }
}
