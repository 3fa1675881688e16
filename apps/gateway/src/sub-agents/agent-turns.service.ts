import { Inject, Injectable } from '@nestjs/common';
import {
  KEPT_WITH_CALL_SECONDS,
  AGENT_TYPES,
  ALL_TENANTS,
  ProblemError,
  SubmitCallBody,
  type AgentSourceDefinition,
  type BatchStrategy,
  type CallEventOf,
  type Principal,
  type ToolDescriptor,
} from '#contracts';
import {
  AgentJournal,
  wantedOf,
  type AgentHistory,
  type OpenAnswer,
  type SubmitAnswer,
  type RecordedToolCall,
  type SubmittedToolCall,
} from '#sub-agents';
import { CallStore } from '#event-log';
import { matchesTool } from '#policy';
import type { AgentTurnRequest } from '#queue';
import { keys, partitionOf, type RedisConnection, LuaScript } from '#redis';
import { SourceStore } from '#sources';
import { ToolRegistry } from '#tool-sdk';
import { ApiKeyStore } from '../auth/api-key-store.service.js';
import { agentOf } from '../auth/agent-of.js';
import { submitterOf } from '../auth/submitter-of.js';
import { gatewayKey } from '../calls/admission/idempotency.js';
import { UnrunCalls } from '../calls/admission/unrun-calls.service.js';
import { CallReader } from '../calls/read/call-reader.service.js';
import { SubmitCallService } from '../calls/submit-call.service.js';
import { nextOf } from '../calls/strategy-groups.decider.js';
import { ToolCatalog } from '../calls/tool-catalog.service.js';
import { PolicyConfigService } from '../governance/policy-config.service.js';
import { FAIL_FAST_REDIS } from '../platform/tokens.js';
import { SessionStore } from '../sessions/session-store.service.js';

/**
 * Moves people's messages to a session into a turn of a sub-agent, in order. A repetition adds later ones. KEYS 1 steering, 2
 * journal of the sub-agent. ARGV 1 field of the turn, 2 TTL of the journal in s. All keys are of one partition.
 */
const takeSteeringScript = new LuaScript(`#!lua flags=allow-oom
local messages = redis.call('LRANGE', KEYS[1], 0, -1)
if #messages == 0 then return 0 end
local before = redis.call('HGET', KEYS[2], ARGV[1])
local text = table.concat(messages, ',')
redis.call('HSET', KEYS[2], ARGV[1], before and (string.sub(before, 1, -2) .. ',' .. text .. ']') or ('[' .. text .. ']'))
redis.call('EXPIRE', KEYS[2], ARGV[2])
redis.call('DEL', KEYS[1])
return #messages`);

/** Result text for the model of calls that had not begun. */
const STEERED = 'Skipped due to queued user message.';

/** Running sub-agent: its key with the current rights, and its definition. */
interface OpenAgent {
  readonly principal: Principal;
  readonly submitted: CallEventOf<'call.submitted'>;
  readonly definition: AgentSourceDefinition;
  /** Levels of sub-agents allowed below: at most those in the log, whatever its worker requests. */
  readonly levels: number;
}

/**
 * Tools and calls of a sub-agent's turn. A sub-agent has the current rights of the key that called it, for the same session and
 * agent: never more than its caller, whatever its definition lists.
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
    private readonly unrun: UnrunCalls,
    private readonly sessions: SessionStore,
    private readonly policies: PolicyConfigService,
    @Inject(FAIL_FAST_REDIS) private readonly redis: RedisConnection,
  ) {
    this.sources = new SourceStore(redis);
    this.journal = new AgentJournal(redis);
  }

  /**
   * Tools for a turn. Moves messages of people to the session into the journal, where the turn reads them. @throws ProblemError
   * if the sub-agent may not continue
   */
  async open({ callId, turn, budget }: AgentTurnRequest): Promise<OpenAnswer> {
    const { principal, submitted, definition, levels } = await this.agent(callId, budget);
    const { sessionid: sessionId, agentid: agentId } = submitted;
    await this.takeSteering(callId, submitted, turn);
    const callable = await this.catalog.callable(principal, { sessionId, agentId }, 'sub_agents');
    const tools = callable.filter((tool) => tool.deferred !== true && isOffered(tool, definition, levels));
    const has = (name: string) => callable.some((tool) => tool.name === name);
    const memory = { recall: has('memory_recall') && has('memory_search'), keep: has('memory_turn') };
    return { kind: 'open', tools: tools.map(({ name }) => name), memory };
  }

  /**
   * Submits the calls of a turn that may run once the first `after` have ended, each once: the idempotency key of a call
   * contains its place. A late request changes nothing and gets the stored answer.
   * @throws ProblemError if the sub-agent may not continue
   */
  async submit({ callId, turn, after, budget }: AgentTurnRequest): Promise<SubmitAnswer> {
    const agent = await this.agent(callId, budget);
    const history = await this.journal.load(callId);
    const before = history.submitted.get(turn) ?? [];
    const calls = before.length > after ? before.slice(after) : await this.submitNext(agent, callId, history, turn, budget);
    return { kind: 'submitted', calls: [...(await this.journal.keepSubmitted(callId, turn, after, calls))] };
  }

  private async submitNext(
    agent: OpenAgent,
    callId: string,
    { turns, submitted, steering }: AgentHistory,
    number: number,
    budget: AgentTurnRequest['budget'],
  ): Promise<SubmittedToolCall[]> {
    const turn = turns[number - 1];
    if (turn === undefined) throw new ProblemError('conflict', 'The journal of the sub-agent does not have this turn', { callId });
    const before = new Set(submitted.get(number)?.map(({ toolCallId }) => toolCallId));
    const tools = this.registry.for(agent.principal.tenantId);
    const wanted = wantedOf(turn).map((call) => ({
      ...call,
      readOnly: tools.resolve(call.tool)?.tier === 'read_only',
      isStarted: before.has(call.toolCallId),
    }));
    const { calls, isNewGroup } = nextOf(await this.strategyOf(agent), wanted);
    if (isNewGroup && ((await this.takeSteering(callId, agent.submitted, number + 1)) > 0 || steering.has(number + 1)))
      return Promise.all(wanted.filter(({ isStarted }) => !isStarted).map((call) => this.skipOne(agent, callId, number, call)));
    return Promise.all(calls.map((call) => this.submitOne(agent, callId, number, call, budget)));
  }

  /** Strategy of the definition, else the one for batches of the session and agent. */
  private async strategyOf({ principal, submitted, definition }: OpenAgent): Promise<BatchStrategy> {
    if (definition.strategy !== undefined) return definition.strategy;
    const { tenantid: tenantId, sessionid: sessionId, agentid: agentId } = submitted;
    const { strategy } = await this.sessions.state(tenantId, sessionId);
    return strategy ?? this.policies.of(tenantId, agentOf(principal, agentId)).policy.execution.strategy;
  }

  /** Moves messages of people to the session into the turn. Returns their number. */
  private async takeSteering(callId: string, submitted: CallEventOf<'call.submitted'>, turn: number): Promise<number> {
    const { tenantid: tenantId, sessionid: sessionId } = submitted;
    if (sessionId === undefined) return 0;
    const from = keys.steering(partitionOf(callId), tenantId, sessionId);
    return Number(
      await takeSteeringScript.run(this.redis, [from, keys.agentJournal(callId)], [`steering.${turn}`, KEPT_WITH_CALL_SECONDS]),
    );
  }

  private async submitOne(
    { principal, submitted, definition, levels }: OpenAgent,
    parentCallId: string,
    turn: number,
    call: WantedCall,
    budget: AgentTurnRequest['budget'],
  ): Promise<SubmittedToolCall> {
    const { toolCallId, tool } = call;
    const found = this.registry.for(principal.tenantId).resolve(tool);
    const isAgent = found?.pool === 'agent';
    if (found === undefined || !isOffered(found, definition, levels))
      return { toolCallId, isAgent, error: `${tool} is not a tool of this sub-agent any more.` };
    const body = bodyOf(call, parentCallId);
    try {
      const options = {
        idempotencyKey: keyOf(parentCallId, turn, toolCallId),
        traceparent: submitted.traceparent,
        byAgent: { budget: { ...budget, depth: levels } },
      };
      const { call } = await this.submitCall.submit(principal, body, options);
      return { toolCallId, isAgent, callId: call.id };
    } catch (error) {
      if (!(error instanceof ProblemError) || error.code === 'overloaded') throw error;
      const { callId } = error.facts;
      // A parent that may no longer make calls is named in the error.
      return { toolCallId, isAgent, ...(callId === undefined || callId === parentCallId ? { error: error.detail } : { callId }) };
    }
  }

  /** Records a call that a person's message replaced, as in a batch: it ends without a run. */
  private async skipOne(
    { principal, submitted }: OpenAgent,
    parentCallId: string,
    turn: number,
    { toolCallId, tool, arguments: args }: WantedCall,
  ): Promise<SubmittedToolCall> {
    const body = bodyOf({ tool, arguments: args, toolCallId }, parentCallId);
    const error = { code: 'cancelled', message: STEERED, retryable: false } as const;
    const idempotencyKey = keyOf(parentCallId, turn, toolCallId);
    const callId = await this.unrun.record(
      principal,
      body,
      { outcome: 'cancelled', error },
      { idempotencyKey, traceparent: submitted.traceparent },
    );
    return { toolCallId, isAgent: false, callId, error: STEERED };
  }

  private async agent(callId: string, budget: AgentTurnRequest['budget']): Promise<OpenAgent> {
    const head = await this.calls.snapshot(callId);
    if (head === undefined || head.status === 'ended' || head.cancelRequested) throw new CallOverError(callId);
    const submitted = await this.reader.submission(callId);
    const { tenantId } = head.meta;
    const principal = submitterOf(this.apiKeys, tenantId, submitted);
    const name = submitted.data.source;
    // Prefers the source of all tenants, as in the catalog: a tenant cannot take its name.
    const own = (await this.sources.definition({ tenantId: ALL_TENANTS, name })) ?? (await this.sources.definition({ tenantId, name }));
    if (own?.definition.kind !== 'agent') throw new ProblemError('conflict', `The sub-agent ${name} is not defined any more`, { callId });
    const { agentsAbove = 0, agentBudget } = submitted.data;
    const given = agentBudget?.depth ?? (agentsAbove === 0 ? Infinity : 0);
    return { principal, submitted, definition: own.definition, levels: Math.min(budget.depth, own.definition.maxDepth - 1, given - 1) };
  }
}

type WantedCall = Pick<RecordedToolCall, 'toolCallId' | 'tool' | 'arguments'>;

function bodyOf({ tool, arguments: args, toolCallId }: WantedCall, parentCallId: string): SubmitCallBody {
  return SubmitCallBody.parse({ tool, dialect: 'core', arguments: args, toolCallId, parentCallId });
}

/** Idempotency key: the same call of the same turn is one submission. */
function keyOf(parentCallId: string, turn: number, toolCallId: string): string {
  return gatewayKey('turn', parentCallId, turn, toolCallId);
}

/** `levels`: levels of sub-agents allowed below this one. */
function isOffered(tool: ToolDescriptor, { type, tools }: AgentSourceDefinition, levels: number): boolean {
  if (tool.callers === 'sub_agents') return true;
  if (tool.pool === 'agent' && (levels < 1 || type !== undefined)) return false;
  const has = (patterns: readonly string[]) => patterns.some((pattern) => matchesTool(pattern, tool));
  return type === undefined ? has(tools) : has(AGENT_TYPES[type]) && (tools.length === 0 || has(tools));
}

/** Error for a sub-agent whose call has ended or is being cancelled. */
export class CallOverError extends ProblemError {
  constructor(callId: string) {
    super('conflict', 'The call of the sub-agent has ended or is being cancelled', { callId });
  }
}
