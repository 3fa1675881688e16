import { Injectable } from '@nestjs/common';
import { ProblemError, SubmitCallBody, type AgentBudget, type Call, type ToolAnswer } from '#contracts';
import { AgentToolArguments } from '#tools';
import { gatewayKey } from '../calls/admission/idempotency.js';
import { SubmitCallService } from '../calls/submit-call.service.js';
import { ToolCatalog } from '../calls/tool-catalog.service.js';
import { jsonOutput, type ToolCall, type ToolHandler } from './tool-call.js';

/** No less than any definition of a sub-agent says. */
const UNBOUND: AgentBudget = {
  depth: 4,
  tokens: Number.MAX_SAFE_INTEGER,
  modelMs: Number.MAX_SAFE_INTEGER,
  calls: Number.MAX_SAFE_INTEGER,
};

/** Calls sub-agents by their names: a child call, submitted once and judged like any. */
@Injectable()
export class AgentTools {
  readonly handlers: Readonly<Record<string, ToolHandler>> = { agent: (call) => this.delegate(call) };

  constructor(
    private readonly catalog: ToolCatalog,
    private readonly submitCall: SubmitCallService,
  ) {}

  private async delegate({ callId, principal, sessionId, agentId, args }: ToolCall): Promise<ToolAnswer> {
    const { agent, prompt, context, background } = AgentToolArguments.parse(args);
    const names = (await this.catalog.callable(principal, { sessionId, agentId })).flatMap(({ name, pool }) =>
      pool === 'agent' ? [name] : [],
    );
    if (!names.includes(agent)) {
      const message = `Unknown agent '${agent}'. Available agents: ${names.join(', ') || 'none'}`;
      throw new ProblemError('invalid_request', message, { errors: [{ pointer: '/agent', message }] });
    }
    const task = context === undefined ? prompt : `[Context]\n${context}\n\n[Task]\n${prompt}`;
    const body = SubmitCallBody.parse({ tool: agent, arguments: { task }, parentCallId: callId });
    const { call } = await this.submitCall.submit(principal, body, {
      idempotencyKey: gatewayKey('agent', callId),
      byAgent: { budget: UNBOUND },
    });
    if (background) return { ...jsonOutput({ agentId: call.id, name: agent, status: 'running' }), childCallIds: [call.id] };
    return call.status === 'ended' ? resultOf(call) : { kind: 'wait' };
  }
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
