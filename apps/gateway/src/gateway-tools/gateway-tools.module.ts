import { Module } from '@nestjs/common';
import { BatchesModule } from '../batches/batches.module.js';
import { CallsModule } from '../calls/calls.module.js';
import { GovernanceModule } from '../governance/governance.module.js';
import { SchedulesModule } from '../schedules/schedules.module.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { BackgroundTools } from './background-tools.service.js';
import { GatewayTools } from './gateway-tools.service.js';
import { AgentTools } from './agent-tools.service.js';
import { CrewTools } from './crew-tools.service.js';
import { PlanningTools } from './planning-tools.service.js';
import { ScheduleTools } from './schedule-tools.service.js';
import { SessionManagement } from './session-management.service.js';
import { SessionTools } from './session-tools.service.js';
import { SkillTools } from './skill-tools.service.js';
import { SpawnedSessions } from './spawned-sessions.service.js';
import { ToolSearch } from './tool-search.service.js';

/** Handlers of built-in tools that only gateways can run. `sub-agents` consumes their requests from the queue. */
@Module({
  imports: [GovernanceModule, SessionsModule, CallsModule, BatchesModule, SchedulesModule],
  providers: [
    GatewayTools,
    PlanningTools,
    SessionTools,
    ToolSearch,
    ScheduleTools,
    AgentTools,
    CrewTools,
    SkillTools,
    BackgroundTools,
    SessionManagement,
    SpawnedSessions,
  ],
  exports: [GatewayTools],
})
export class GatewayToolsModule {}
