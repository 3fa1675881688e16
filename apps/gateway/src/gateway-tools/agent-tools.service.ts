import { Injectable } from '@nestjs/common';
import { ProblemError, SubmitCallBody, type AgentBudget, type Call, type ToolAnswer } from '#contracts';
import { AgentToolArguments } from '#tools';
import { gatewayKey } from '../calls/admission/idempotency.js';
import { SubmitCallService } from '../calls/submit-call.service.js';
import { ToolCatalog } from '../calls/tool-catalog.service.js';
import { jsonOutput, type ToolCall, type ToolHandler } from './tool-call.js';

/** Budget at least as large as in any definition of a sub-agent. */
const UNBOUND: AgentBudget = {
  depth: 4,
  tokens: Number.MAX_SAFE_INTEGER,
  modelMs: Number.MAX_SAFE_INTEGER,
  calls: Number.MAX_SAFE_INTEGER,
};

/** Calls sub-agents by name: a child call, submitted once and evaluated like any other. */
@Injectable()
export class AgentTools {
  readonly handlers: Readonly<Record<string, ToolHandler>> = { agent: (call) => this.delegate(call) };

  constructor(
    private readonly catalog: ToolCatalog,
    private readonly submitCall: SubmitCallService,
  ) {}

  /** Sub-agents available to the caller. */
  async names({ principal, sessionId, agentId }: ToolCall): Promise<string[]> {
    const tools = await this.catalog.callable(principal, { sessionId, agentId });
    return tools.flatMap(({ name, pool }) => (pool === 'agent' ? [name] : []));
  }

  /**
   * Call of a sub-agent. A repetition returns the same call: one for each `part` of the parent call. @throws ProblemError for
   * an unknown name
   */
  async start(asking: ToolCall, { agent, task, part }: AgentTask): Promise<Call> {
    await this.assertKnown(asking, agent);
    const { callId, principal } = asking;
    const body = SubmitCallBody.parse({ tool: agent, dialect: 'core', arguments: { task }, parentCallId: callId });
    const idempotencyKey = part === undefined ? gatewayKey('agent', callId) : gatewayKey('agent', callId, part);
    const { call } = await this.submitCall.submit(principal, body, { idempotencyKey, byAgent: { budget: UNBOUND } });
    return call;
  }

  /** Call of a sub-agent in another session, for the same agent and user. Not a child of the parent call, which it outlives. */
  async startIn(sessionId: string, asking: ToolCall, { agent, task }: AgentTask): Promise<Call> {
    await this.assertKnown(asking, agent);
    const { callId, principal, agentId, userId } = asking;
    const body = SubmitCallBody.parse({ tool: agent, dialect: 'core', arguments: { task }, sessionId, agentId, userId });
    return (await this.submitCall.submit(principal, body, { idempotencyKey: gatewayKey('agent', callId) })).call;
  }

  private async assertKnown(asking: ToolCall, agent: string): Promise<void> {
    const names = await this.names(asking);
    if (names.includes(agent)) return;
    const message = `Unknown agent '${agent}'. Available agents: ${names.join(', ') || 'none'}`;
    throw new ProblemError('invalid_request', message, { errors: [{ pointer: '/agent', message }] });
  }

  private async delegate(asking: ToolCall): Promise<ToolAnswer> {
    const { agent, prompt, context, background } = AgentToolArguments.parse(asking.args);
    const task = context === undefined ? prompt : `[Context]\n${context}\n\n[Task]\n${prompt}`;
    const call = await this.start(asking, { agent, task });
    if (background) return { ...jsonOutput({ agentId: call.id, name: agent, status: 'running' }), childCallIds: [call.id] };
    return call.status === 'ended' ? resultOf(call) : { kind: 'wait' };
  }
}

interface AgentTask {
  readonly agent: string;
  readonly task: string;
  /** Index of the sub-agent among several of one call. */
  readonly part?: string;
}

function resultOf({ id, result, error, outcome }: Call): ToolAnswer {
  if (outcome !== 'completed' || result === undefined)
    return {
      kind: 'failed',
      code: error?.code ?? 'tool_failed',
      message: error?.message ?? `The sub-agent ended as ${outcome ?? 'unknown'}`,
    };
  return { kind: 'output', content: result.content, isError: result.isError, childCallIds: [id], details: result.details ?? {} };
}
