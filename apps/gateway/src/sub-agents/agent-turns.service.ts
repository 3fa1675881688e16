import { Inject, Injectable } from '@nestjs/common';
import {
  KEPT_WITH_CALL_SECONDS,
  AGENT_TYPES,
  ALL_TENANTS,
  ProblemError,
  SubmitCallBody,
  type AgentSourceDefinition,
  type CallEventOf,
  type Principal,
  type ToolDescriptor,
} from '#contracts';
import { AgentJournal, type OpenAnswer, type SubmitAnswer, type SubmittedToolCall } from '#agents';
import { CallStore } from '#event-log';
import { matchesTool } from '#policy';
import type { AgentTurnRequest } from '#queue';
import { keys, partitionOf, type RedisConnection } from '#redis';
import { SourceStore } from '#sources';
import { ToolRegistry } from '#tool-sdk';
import { ApiKeyStore } from '../auth/api-key-store.service.js';
import { submitterOf } from '../auth/submitter-of.js';
import { gatewayKey } from '../calls/admission/idempotency.js';
import { CallReader } from '../calls/read/call-reader.service.js';
import { SubmitCallService } from '../calls/submit-call.service.js';
import { ToolCatalog } from '../calls/tool-catalog.service.js';
import { FAIL_FAST_REDIS } from '../platform/tokens.js';
import { takeSteeringScript } from './take-steering.js';

/** A sub-agent that may go on: its key as it is now, and its definition. */
interface OpenAgent {
  readonly principal: Principal;
  readonly submitted: CallEventOf<'call.submitted'>;
  readonly definition: AgentSourceDefinition;
  /** Of sub-agents that it may have below: no more than the log says, whatever its worker asks. */
  readonly levels: number;
}

/**
 * What a sub-agent may see and do in a turn. It acts with the rights of the key that called it, as they are now, for the
 * same session and agent: so it is never allowed more than its caller, whatever its definition lists.
 */
@Injectable()
export class AgentTurns {
  private readonly sources: SourceStore;
  private readonly journal: AgentJournal;

  constructor(
    private readonly calls: CallStore,
    private readonly reader: CallReader,
    private readonly apiKeys: ApiKeyStore,
    private readonly catalog: ToolCatalog,
    private readonly submitCall: SubmitCallService,
    private readonly registry: ToolRegistry,
    @Inject(FAIL_FAST_REDIS) private readonly redis: RedisConnection,
  ) {
    this.sources = new SourceStore(redis);
    this.journal = new AgentJournal(redis);
  }

  /** The tools for a turn. What people said to the session goes to the journal, where the turn finds it. @throws ProblemError when the sub-agent may not go on */
  async open({ callId, turn, budget }: AgentTurnRequest): Promise<OpenAnswer> {
    const { principal, submitted, definition, levels } = await this.agent(callId, budget);
    const { sessionid: sessionId, agentid: agentId } = submitted;
    if (sessionId !== undefined) {
      const steering = keys.steering(partitionOf(callId), principal.tenantId, sessionId);
      await takeSteeringScript.run(this.redis, [steering, keys.agentJournal(callId)], [`steering.${turn}`, KEPT_WITH_CALL_SECONDS]);
    }
    const callable = await this.catalog.callable(principal, { sessionId, agentId }, 'sub_agents');
    const tools = callable.filter((tool) => tool.deferred !== true && isOffered(tool, definition, levels));
    const has = (name: string) => callable.some((tool) => tool.name === name);
    const memory = { recall: has('memory_recall') && has('memory_search'), keep: has('memory_turn') };
    return { kind: 'open', tools: tools.map(({ name }) => name), memory };
  }

  /** Submits the calls of a turn, each once: the key of a call is made of its place. @throws ProblemError when the sub-agent may not go on */
  async submit({ callId, turn: number, budget }: AgentTurnRequest): Promise<SubmitAnswer> {
    const agent = await this.agent(callId, budget);
    const { turns, submitted } = await this.journal.load(callId);
    const before = submitted.get(number);
    const turn = turns[number - 1];
    if (before !== undefined) return { kind: 'submitted', calls: [...before] };
    if (turn === undefined) throw new ProblemError('conflict', 'The journal of the sub-agent does not have this turn', { callId });
    const wanted = turn.toolCalls.filter(({ refusal }) => refusal === undefined);
    const calls = await Promise.all(wanted.map((call) => this.submitOne(agent, callId, number, call, budget)));
    return { kind: 'submitted', calls: [...(await this.journal.keepSubmitted(callId, number, calls))] };
  }

  private async submitOne(
    { principal, definition, levels }: OpenAgent,
    parentCallId: string,
    turn: number,
    { toolCallId, tool, arguments: args }: { readonly toolCallId: string; readonly tool: string; readonly arguments: string },
    budget: AgentTurnRequest['budget'],
  ): Promise<SubmittedToolCall> {
    const found = this.registry.for(principal.tenantId).resolve(tool);
    const isAgent = found?.pool === 'agent';
    if (found === undefined || !isOffered(found, definition, levels))
      return { toolCallId, isAgent, error: `${tool} is not a tool of this sub-agent any more.` };
    const body = SubmitCallBody.parse({ tool, dialect: 'core', arguments: args, toolCallId, parentCallId });
    try {
      const options = {
        idempotencyKey: gatewayKey('turn', parentCallId, turn, toolCallId),
        byAgent: { budget: { ...budget, depth: levels } },
      };
      const { call } = await this.submitCall.submit(principal, body, options);
      return { toolCallId, isAgent, callId: call.id };
    } catch (error) {
      if (!(error instanceof ProblemError) || error.code === 'overloaded') throw error;
      const { callId } = error.facts;
      // A parent that may not make calls any more is named itself.
      return { toolCallId, isAgent, ...(callId === undefined || callId === parentCallId ? { error: error.detail } : { callId }) };
    }
  }

  private async agent(callId: string, budget: AgentTurnRequest['budget']): Promise<OpenAgent> {
    const head = await this.calls.snapshot(callId);
    if (head === undefined || head.status === 'ended' || head.cancelRequested)
      throw new ProblemError('conflict', 'The call of the sub-agent has ended or is being cancelled', { callId });
    const submitted = await this.reader.submission(callId);
    const { tenantId } = head.meta;
    const principal = submitterOf(this.apiKeys, tenantId, submitted);
    const name = submitted.data.source;
    // As in the catalog: a tenant cannot take the name of a source of all tenants.
    const own = (await this.sources.definition({ tenantId: ALL_TENANTS, name })) ?? (await this.sources.definition({ tenantId, name }));
    if (own?.definition.kind !== 'agent') throw new ProblemError('conflict', `The sub-agent ${name} is not defined any more`, { callId });
    const { agentsAbove = 0, agentBudget } = submitted.data;
    const given = agentBudget?.depth ?? (agentsAbove === 0 ? Infinity : 0);
    return { principal, submitted, definition: own.definition, levels: Math.min(budget.depth, own.definition.maxDepth - 1, given - 1) };
  }
}

/** `levels`: of sub-agents that this one may have below. */
function isOffered(tool: ToolDescriptor, { type, tools }: AgentSourceDefinition, levels: number): boolean {
  if (tool.callers === 'sub_agents') return true;
  if (tool.pool === 'agent' && (levels < 1 || type !== undefined)) return false;
  const has = (patterns: readonly string[]) => patterns.some((pattern) => matchesTool(pattern, tool));
  return type === undefined ? has(tools) : has(AGENT_TYPES[type]) && (tools.length === 0 || has(tools));
}
