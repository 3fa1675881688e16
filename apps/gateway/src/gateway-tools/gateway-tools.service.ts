import { Injectable } from '@nestjs/common';
import { CALL_ERROR_CODES, ProblemError, type CallErrorCode, type ToolAnswer } from '#contracts';
import { CallStore } from '#event-log';
import type { ToolRequest } from '#queue';
import { ApiKeyStore } from '../auth/api-key-store.service.js';
import { submitterOf } from '../auth/submitter-of.js';
import { CallReader } from '../calls/read/call-reader.service.js';
import { AgentTools } from './agent-tools.service.js';
import { BackgroundTools } from './background-tools.service.js';
import { CrewTools } from './crew-tools.service.js';
import { PlanningTools } from './planning-tools.service.js';
import { ScheduleTools } from './schedule-tools.service.js';
import { SessionManagement } from './session-management.service.js';
import { SessionTools } from './session-tools.service.js';
import { SkillTools } from './skill-tools.service.js';
import type { ToolHandler } from './tool-call.js';
import { ToolSearch } from './tool-search.service.js';

/**
 * Runs built-in tools that workers cannot run: on sessions, schedules and other calls. Each has the current rights of its
 * call's submitting key, in the session and for the agent of that call.
 */
@Injectable()
export class GatewayTools {
  private readonly handlers: Readonly<Record<string, ToolHandler | undefined>>;

  constructor(
    private readonly calls: CallStore,
    private readonly reader: CallReader,
    private readonly apiKeys: ApiKeyStore,
    planning: PlanningTools,
    sessions: SessionTools,
    search: ToolSearch,
    background: BackgroundTools,
    schedules: ScheduleTools,
    agents: AgentTools,
    crews: CrewTools,
    skills: SkillTools,
    management: SessionManagement,
  ) {
    const parts = [planning, sessions, search, background, schedules, agents, crews, skills, management];
    this.handlers = Object.fromEntries(parts.flatMap(({ handlers }) => Object.entries(handlers)));
  }

  /** Rejects only for errors that a retry may resolve. */
  async run({ callId, args }: ToolRequest): Promise<ToolAnswer> {
    const head = await this.calls.snapshot(callId);
    if (head === undefined || head.status === 'ended' || head.cancelRequested)
      return failed('cancelled', 'The call has ended or is being cancelled');
    const submitted = await this.reader.submission(callId);
    const { tool, agentsAbove = 0, userId, dialect } = submitted.data;
    const agent = agentsAbove > 0 ? 'sub_agents' : 'main';
    const handle = Object.hasOwn(this.handlers, tool) ? this.handlers[tool] : undefined;
    if (handle === undefined) return failed('unavailable', `No gateway of this release does the work of ${tool}`);
    try {
      const { tenantId, sessionId, agentId } = head.meta;
      const principal = submitterOf(this.apiKeys, tenantId, submitted);
      return await handle({ callId, principal, sessionId, agentId, userId, agent, dialect, args });
    } catch (error) {
      if (!(error instanceof ProblemError) || error.code === 'overloaded') throw error;
      return { ...failed(codeOf(error), error.detail), ...(error.facts.errors === undefined ? {} : { errors: error.facts.errors }) };
    }
  }
}

const CALL_CODES: ReadonlySet<string> = new Set(CALL_ERROR_CODES);

function codeOf({ code }: ProblemError): CallErrorCode {
  if (code === 'invalid_request') return 'invalid_arguments';
  if (code === 'forbidden') return 'policy_denied';
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the set has exactly these codes
  return CALL_CODES.has(code) ? (code as CallErrorCode) : 'tool_failed';
}

function failed(code: CallErrorCode, message: string): Extract<ToolAnswer, { kind: 'failed' }> {
  return { kind: 'failed', code, message };
}
