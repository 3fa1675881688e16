import { Module } from '@nestjs/common';
import { GovernanceModule } from '../governance/governance.module.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { CallsModule } from '../calls/calls.module.js';
import { GatewayToolsModule } from '../gateway-tools/gateway-tools.module.js';
import { GatewayRequestsService } from './gateway-requests.service.js';
import { AgentTurns } from './agent-turns.service.js';

/** Operations for sub-agents that workers cannot do: lists their tools, and submits their calls. */
@Module({ imports: [GovernanceModule, SessionsModule, CallsModule, GatewayToolsModule], providers: [GatewayRequestsService, AgentTurns] })
export class SubAgentsModule {}
