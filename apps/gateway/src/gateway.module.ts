import { Module, type DynamicModule, type Type } from '@nestjs/common';
import type { MetricsProbes } from '#observability';
import { ToolsModule } from '#tools';
import { ApprovalsModule } from './approvals/approvals.module.js';
import { AuthModule } from './auth/auth.module.js';
import { BatchesModule } from './batches/batches.module.js';
import { CallsModule } from './calls/calls.module.js';
import { GovernanceModule } from './governance/governance.module.js';
import { DiagnosticsService } from './operations/diagnostics.service.js';
import { gatewayMetrics } from './operations/gateway-metrics.js';
import { HealthController } from './operations/health.controller.js';
import { NotImplementedController } from './operations/not-implemented.controller.js';
import { OperationsController } from './operations/operations.controller.js';
import { Readiness } from './operations/readiness.service.js';
import type { GatewayConfig } from './platform/gateway.config.js';
import { PlatformModule } from './platform/platform.module.js';
import { EXTRA_METRICS_PROBES } from './platform/tokens.js';
import { SessionsModule } from './sessions/sessions.module.js';
import { EventsController } from './streaming/events.controller.js';
import { EventStream } from './streaming/sse/event-stream.js';
import { StreamGateway } from './streaming/ws/stream.gateway.js';
import { WorkersModule } from './workers/workers.module.js';

/** The gateway: its features, each a module that imports only those before it in this list. Nothing is request-scoped. */
@Module({})
export class GatewayModule {
  static async forRoot(config: GatewayConfig, moreProbes: MetricsProbes = {}, tools: readonly Type[] = []): Promise<DynamicModule> {
    return {
      module: GatewayModule,
      imports: [
        PlatformModule.forRoot(config),
        AuthModule,
        await ToolsModule.forRoot({ tools }),
        GovernanceModule,
        WorkersModule,
        SessionsModule,
        CallsModule,
        ApprovalsModule,
        BatchesModule,
      ],
      controllers: [EventsController, OperationsController, NotImplementedController, HealthController],
      providers: [
        { provide: EXTRA_METRICS_PROBES, useValue: moreProbes },
        gatewayMetrics,
        EventStream,
        StreamGateway,
        Readiness,
        DiagnosticsService,
      ],
    };
  }
}
