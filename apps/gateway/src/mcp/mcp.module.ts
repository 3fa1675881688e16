import { Module } from '@nestjs/common';
import { ApprovalsModule } from '../approvals/approvals.module.js';
import { CallsModule } from '../calls/calls.module.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { CallApprovals } from './calls/call-approvals.service.js';
import { CallInputs } from './calls/call-inputs.service.js';
import { CallProgress } from './calls/call-progress.service.js';
import { CallQuestions } from './calls/call-questions.service.js';
import { CallTasks } from './calls/call-tasks.service.js';
import { CallToolService } from './calls/call-tool.service.js';
import { ListChanges } from './calls/list-changes.service.js';
import { OutputResources } from './calls/output-resources.service.js';
import { OwnedCalls } from './calls/owned-calls.service.js';
import { RequestStates } from './calls/request-state.service.js';
import { TaskChanges } from './calls/task-changes.service.js';
import { TaskListens } from './endpoints/task-listens.service.js';
import { ToolList } from './calls/tool-list.service.js';
import { McpController } from './mcp.controller.js';
import { McpEndpoint } from './mcp-endpoint.service.js';
import { McpServers } from './endpoints/mcp-servers.service.js';
import { ModernEndpoint } from './endpoints/modern-endpoint.service.js';
import { LegacyEndpoint } from './endpoints/legacy-endpoint.service.js';
import { McpSessions } from './endpoints/mcp-sessions.service.js';

/** Model Context Protocol endpoint. `wire/`: messages and HTTP; `calls/`: methods; `endpoints/`: both revisions, sessions. */
@Module({
  imports: [SessionsModule, CallsModule, ApprovalsModule],
  controllers: [McpController],
  providers: [
    McpEndpoint,
    ModernEndpoint,
    LegacyEndpoint,
    McpSessions,
    McpServers,
    ToolList,
    CallToolService,
    CallTasks,
    CallApprovals,
    CallInputs,
    CallQuestions,
    CallProgress,
    OwnedCalls,
    RequestStates,
    OutputResources,
    ListChanges,
    TaskChanges,
    TaskListens,
  ],
})
export class McpModule {}
