import { Module, type DynamicModule, type Type } from '@nestjs/common';
import type { MetricsProbes } from '#observability';
import { ToolsModule } from '#tools';
import { PendingApprovalsGauge } from './approvals/pending-approvals.service.js';
import { BatchCalls } from './batches/batch-calls.service.js';
import { NotificationChannel } from './platform/notification-channel.service.js';
import { SessionCancelChannel } from './sessions/session-cancel-channel.service.js';
import { BatchReader } from './batches/batch-reader.service.js';
import { BatchCoordinator } from './batches/batch-coordinator.service.js';
import { BatchStore } from './batches/batch-store.service.js';
import { CancelBatchService } from './batches/cancel-batch.service.js';
import { CancelSessionService } from './batches/cancel-session.service.js';
import { DeferredApprovals } from './batches/deferred-approvals.service.js';
import { SteerSessionService } from './batches/steer-session.service.js';
import { SubmitBatchService } from './batches/submit-batch.service.js';
import { BulkCallsService } from './calls/bulk-calls.service.js';
import { ApprovalEvaluator } from './approvals/approval-evaluator.service.js';
import { CallEvaluator } from './calls/admission/call-evaluator.service.js';
import { CallReader } from './calls/call-reader.service.js';
import { CancelCallService } from './calls/cancel-call.service.js';
import { DecideApprovalService } from './approvals/decide-approval.service.js';
import { ChildCallService } from './calls/child-call.service.js';
import { ReplayCallService } from './calls/replay-call.service.js';
import { SubmitCallService } from './calls/submit-call.service.js';
import type { GatewayConfig } from './platform/gateway.config.js';
import { BatchesController } from './batches/batches.controller.js';
import { CallsController } from './calls/calls.controller.js';
import { EventsController } from './streaming/events.controller.js';
import { HealthController } from './operations/health.controller.js';
import { NotImplementedController } from './operations/not-implemented.controller.js';
import { OperationsController } from './operations/operations.controller.js';
import { OutputController } from './calls/output.controller.js';
import { QueriesController } from './calls/queries.controller.js';
import { SessionsController } from './sessions/sessions.controller.js';
import { ToolsController } from './calls/tools.controller.js';
import { ApprovalHooks } from './approvals/approval-hooks.service.js';
import { BeforeHooks } from './calls/admission/before-hooks.service.js';
import { HookConfigService } from './governance/hook-config.service.js';
import { CallLimiter } from './calls/admission/call-limiter.service.js';
import { LimitConfigService } from './governance/limit-config.service.js';
import { DiagnosticsService } from './operations/diagnostics.service.js';
import { Readiness } from './operations/readiness.service.js';
import { EffectivePolicyService } from './calls/admission/effective-policy.service.js';
import { FileDenials } from './governance/file-denials.service.js';
import { ConfigReload } from './governance/config-reload.service.js';
import { PolicyConfigService } from './governance/policy-config.service.js';
import { RedactionConfigService } from './governance/redaction-config.service.js';
import { SessionEventPublisher } from './sessions/session-event-publisher.service.js';
import { SessionStore } from './sessions/session-store.service.js';
import { EventStream } from './streaming/sse/event-stream.js';
import { StreamGateway } from './streaming/ws/stream.gateway.js';
import { AuthModule } from './auth/auth.module.js';
import { gatewayMetrics } from './operations/gateway-metrics.js';
import { PlatformModule } from './platform/platform.module.js';
import { EXTRA_METRICS_PROBES } from './platform/tokens.js';
import { WorkerLivenessMonitor } from './workers/worker-liveness-monitor.service.js';
import { ToolAvailabilityService } from './workers/tool-availability.service.js';
import { WorkerRegistry } from './workers/worker-registry.service.js';

/** The gateway, whole: doors, the use cases behind them, and what they stand on. Nothing is request-scoped. */
@Module({})
export class GatewayModule {
  static async forRoot(config: GatewayConfig, moreProbes: MetricsProbes = {}, tools: readonly Type[] = []): Promise<DynamicModule> {
    return {
      module: GatewayModule,
      imports: [PlatformModule.forRoot(config), AuthModule, await ToolsModule.forRoot({ tools })],
      controllers: [
        CallsController,
        BatchesController,
        OutputController,
        EventsController,
        ToolsController,
        SessionsController,
        OperationsController,
        QueriesController,
        NotImplementedController,
        HealthController,
      ],
      providers: [
        { provide: EXTRA_METRICS_PROBES, useValue: moreProbes },
        gatewayMetrics,
        // what they want
        CallEvaluator,
        ApprovalEvaluator,
        CallLimiter,
        LimitConfigService,
        SubmitCallService,
        CallReader,
        CancelCallService,
        ChildCallService,
        DecideApprovalService,
        ReplayCallService,
        BulkCallsService,
        SessionStore,
        SessionEventPublisher,
        PendingApprovalsGauge,
        // by which rules
        PolicyConfigService,
        RedactionConfigService,
        EffectivePolicyService,
        FileDenials,
        HookConfigService,
        BeforeHooks,
        ApprovalHooks,
        ConfigReload,
        WorkerRegistry,
        ToolAvailabilityService,
        WorkerLivenessMonitor,
        // several of them at once
        SubmitBatchService,
        BatchReader,
        BatchStore,
        BatchCalls,
        NotificationChannel,
        SessionCancelChannel,
        BatchCoordinator,
        DeferredApprovals,
        SteerSessionService,
        CancelBatchService,
        CancelSessionService,
        // who watches
        EventStream,
        StreamGateway,
        // whether this process is here for it
        Readiness,
        DiagnosticsService,
      ],
    };
  }
}
