import { Module, type DynamicModule } from '@nestjs/common';
import type { MetricsProbes } from '#observability';
import { ApprovalsModule } from '../approvals/approvals.module.js';
import { ForeignWorkersModule } from '../foreign-workers/foreign-workers.module.js';
import { GovernanceModule } from '../governance/governance.module.js';
import { EXTRA_METRICS_PROBES } from '../platform/tokens.js';
import { SourcesModule } from '../sources/sources.module.js';
import { WorkersModule } from '../workers/workers.module.js';
import { AuditController } from './audit.controller.js';
import { DiagnosticsService } from './diagnostics.service.js';
import { gatewayMetrics } from './gateway-metrics.js';
import { GatewayWarnings } from './gateway-warnings.service.js';
import { HealthController } from './health.controller.js';
import { OperationsController } from './operations.controller.js';
import { Readiness } from './readiness.service.js';

/** Health, metrics, diagnostics, queues and workers, for operators and probes of this process. */
@Module({})
export class OperationsModule {
  /** `extraProbes` read the metrics of other components in this process. */
  static forRoot(extraProbes: MetricsProbes): DynamicModule {
    return {
      module: OperationsModule,
      imports: [GovernanceModule, WorkersModule, ApprovalsModule, SourcesModule, ForeignWorkersModule],
      controllers: [AuditController, OperationsController, HealthController],
      providers: [{ provide: EXTRA_METRICS_PROBES, useValue: extraProbes }, gatewayMetrics, GatewayWarnings, Readiness, DiagnosticsService],
    };
  }
}
