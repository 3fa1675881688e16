import { Module, type DynamicModule, type Type } from '@nestjs/common';
import type { MetricsProbes } from '#observability';
import { ToolsModule } from '#tools';
import { ApprovalsModule } from './approvals/approvals.module.js';
import { AuthModule } from './auth/auth.module.js';
import { BatchesModule } from './batches/batches.module.js';
import { CallsModule } from './calls/calls.module.js';
import { GovernanceModule } from './governance/governance.module.js';
import { GatewayToolsModule } from './gateway-tools/gateway-tools.module.js';
import { McpModule } from './mcp/mcp.module.js';
import { ForeignWorkersModule } from './foreign-workers/foreign-workers.module.js';
import type { GatewayConfig } from './platform/gateway.config.js';
import { OperationsModule } from './operations/operations.module.js';
import { PlatformModule } from './platform/platform.module.js';
import { SchedulesModule } from './schedules/schedules.module.js';
import { SessionsModule } from './sessions/sessions.module.js';
import { SourcesModule } from './sources/sources.module.js';
import { StreamingModule } from './streaming/streaming.module.js';
import { SubAgentsModule } from './sub-agents/sub-agents.module.js';
import { ViewsModule } from './views/views.module.js';
import { WebhooksModule } from './webhooks/webhooks.module.js';
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
        SchedulesModule,
        SourcesModule,
        GatewayToolsModule,
        SubAgentsModule,
        ForeignWorkersModule,
        ViewsModule,
        WebhooksModule,
        StreamingModule,
        McpModule,
        OperationsModule.forRoot(moreProbes),
      ],
    };
  }
}
