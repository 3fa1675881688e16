import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { AgentBudget, AgentSourceDefinition, Call, ProgressData } from '#contracts';
import type { CallStore } from '#event-log';
import { telemetry } from '#observability';
import { Suspension, ToolError, type AgentRun, type ToolContext, type ToolOutput, type ToolRegistry } from '#tool-sdk';
import type { Refused } from './agent-answers.js';
import type { AgentGateway } from './agent-gateway.js';
import type { AgentHistory, AgentJournal } from './journal/agent-journal.js';
import { TurnLog } from './journal/turn-log.js';
import { nextStep, type AgentLimits, type Spent } from './loop/agent-loop.decider.js';
import { agentOutput, summariesIn } from './loop/agent-output.js';
import { limitsOf, spentOf } from './loop/limits.js';
import type { AgentMemory } from './memory/agent-memory.port.js';
import { RunMemory } from './memory/run-memory.js';
import { messagesOf } from './loop/messages.js';
import { readAnswer } from './loop/read-answer.js';
import { wantedOf, type RecordedTurn } from './journal/recorded-turn.js';
import { ModelFailure, type Model, type ModelRequest } from './model/model.port.js';

export interface AgentLoopParts {
  readonly gateway: Pick<AgentGateway, 'open' | 'submit'>;
  readonly journal: AgentJournal;
  readonly memory: AgentMemory;
  readonly calls: Pick<CallStore, 'read' | 'events'>;
  readonly tools: Pick<ToolRegistry, 'for'>;
}

interface ReadCalls {
  readonly ended: ReadonlyMap<string, Call>;
  readonly open: readonly string[];
  /** Usage of sub-agents that ended without a result. */
  readonly withoutResult: ReadonlyMap<string, Spent>;
}

/** Delay while no gateway answers. */
const NO_GATEWAY_MS = 2_000;
/** Most requests for one turn. */
const TRIES = 5;
const FIRST_RETRY_MS = 1_000;

/**
 * One attempt of a sub-agent: from the state of the journal until it has to wait, or to its end. Each round: read the state →
 * decide (`agent-loop.decider.ts`) → request the model, submit calls, suspend, or end.
 */
export class AgentLoop {
  private readonly run: AgentRun;
  private readonly limits: AgentLimits;
  private readonly log: TurnLog;
  private readonly memory: RunMemory;

  /** @throws ToolError `policy_denied` below a sub-agent that may not call any */
  constructor(
    private readonly definition: AgentSourceDefinition,
    private readonly task: string,
    private readonly ctx: ToolContext,
    private readonly model: Model,
    private readonly parts: AgentLoopParts,
  ) {
    if (ctx.agentRun === undefined) throw new Error('a sub-agent runs as a call of a worker only');
    this.run = ctx.agentRun;
    this.limits = limitsOf(definition, this.run);
    this.log = new TurnLog(ctx, this.run, parts.journal, parts.calls);
    this.memory = new RunMemory(definition, task, ctx, parts);
  }

  async toOutput(): Promise<ToolOutput> {
    const { ctx, parts } = this;
    for (;;) {
      ctx.signal.throwIfAborted();
      const history = await parts.journal.load(ctx.callId);
      await this.log.ensure(history);
      const calls = await this.readCalls(ctx.callId, history);
      const spent = spentOf(history, calls.ended, calls.withoutResult);
      const { turns, submitted } = history;
      const last = turns.at(-1);
      const after = submitted.get(turns.length)?.length ?? 0;
      const unsubmitted = last === undefined ? 0 : wantedOf(last).length - after;
      const step = nextStep({ turns, unsubmitted, open: calls.open, spent, limits: this.limits });
      if (step.kind === 'wait') return new Suspension({ until: 'children' });
      if (step.kind === 'end') {
        await this.memory.keep(history);
        await parts.journal.expire(ctx.callId);
        return agentOutput({ callId: ctx.callId, run: this.run, history, spent, limit: step.limit });
      }
      const suspension =
        step.kind === 'submit' ? await this.submit(last, after, spent) : await this.ask(step.turn, history, calls.ended, spent);
      if (suspension !== undefined) return suspension;
    }
  }

  /** Reads the calls of a run. A call that is no longer stored has ended. */
  private async readCalls(own: string, { submitted }: AgentHistory): Promise<ReadCalls> {
    const made = [...submitted.values()].flat().filter(({ callId }) => callId !== own);
    const stored = await Promise.all(made.flatMap(({ callId }) => (callId === undefined ? [] : [this.parts.calls.read(callId)])));
    const ended = new Map(stored.flatMap((call) => (call?.status === 'ended' ? [[call.id, call]] : [])));
    const open = stored.flatMap((call) => (call === undefined || ended.has(call.id) ? [] : [call.id]));
    const withoutResult = new Map<string, Spent>();
    for (const { callId = '', isAgent } of made)
      if (isAgent && ended.has(callId) && ended.get(callId)?.result?.details === undefined)
        withoutResult.set(callId, await this.spentBy(callId));
    return { ended, open, withoutResult };
  }

  /** Usage by the journal, for a sub-agent that failed or was cancelled and has no result. */
  private async spentBy(callId: string): Promise<Spent> {
    const history = await this.parts.journal.load(callId);
    const { ended, withoutResult } = await this.readCalls(callId, history);
    return spentOf(history, ended, withoutResult);
  }

  private async submit(turn: RecordedTurn | undefined, after: number, spent: Spent): Promise<Suspension | undefined> {
    if (turn === undefined) return undefined;
    const { ctx, parts } = this;
    const wanted = wantedOf(turn);
    if (after === 0) ctx.onProgress(progressOf(turn.turn, this.limits.turns, wanted));
    if (after === 0) for (const summary of summariesIn(wanted)) ctx.onUpdate([{ type: 'json', json: summary }], { stream: 'summary' });
    const answer = await parts.gateway.submit(ctx, turn.turn, after, this.left(spent, wanted.length - after));
    if (answer === undefined) return new Suspension(NO_GATEWAY_MS);
    if (answer.kind === 'refused') throw await this.refusal(answer);
    const submitted = await parts.journal.keepSubmitted(ctx.callId, turn.turn, after, answer.calls);
    const startedCalls = new Set(
      submitted.flatMap(({ toolCallId, callId, error }) => (callId === undefined || error !== undefined ? [] : [toolCallId])),
    );
    for (const { tool, toolCallId } of wanted)
      if (startedCalls.has(toolCallId)) ctx.onUpdate([{ type: 'text', text: `[sub-agent calling tool: ${tool}]\n` }], { stream: 'calls' });
    return undefined;
  }

  private async ask(turn: number, history: AgentHistory, ended: ReadonlyMap<string, Call>, spent: Spent): Promise<Suspension | undefined> {
    const { ctx, definition, limits, parts } = this;
    const opened = await parts.gateway.open(ctx, turn, this.left(spent, 1));
    if (opened === undefined) return new Suspension(NO_GATEWAY_MS);
    if (opened.kind === 'refused') throw await this.refusal(opened);
    const recalled = await this.memory.recalled(history, opened.memory);
    // The gateway has stored messages of people in the journal.
    const { steering } = await parts.journal.load(ctx.callId);
    const view = parts.tools.for(ctx.tenantId);
    const tools = opened.tools.flatMap((name) => view.resolve(name) ?? []);
    const request: ModelRequest = {
      system: definition.system,
      messages: messagesOf(this.task, { ...history, steering, recalled }, ended),
      tools,
    };
    ctx.onProgress({ message: `turn ${turn} of at most ${limits.turns}`, done: turn - 1, total: limits.turns });
    const startedAt = performance.now();
    const leftMs = Math.max(1, Math.ceil(limits.modelMs - spent.modelMs));
    const budget = AbortSignal.timeout(leftMs);
    try {
      const signal = AbortSignal.any([ctx.signal, budget]);
      const answer = await this.model.ask(request, {
        signal,
        onText: (text) => ctx.onUpdate([{ type: 'text', text }], { stream: 'text' }),
      });
      const tookMs = Math.round(performance.now() - startedAt);
      const offered = tools.map(({ name }) => name);
      const recorded = await parts.journal.keepTurn(ctx.callId, {
        ...readAnswer(answer, { offered, exists: (name) => view.resolve(name) !== undefined }),
        ...(answer.thinking === undefined ? {} : { thinking: [...answer.thinking] }),
        turn,
        model: definition.model.name,
        requestSha256: createHash('sha256').update(JSON.stringify(request)).digest('hex'),
        usage: answer.usage,
        tookMs,
        steering: steering.get(turn)?.length ?? 0,
      });
      await this.log.write(recorded, steering.get(turn));
      telemetry.agentTurn.emit({ agent: definition.name, ok: true, tookMs, ...answer.usage });
      return undefined;
    } catch (error) {
      ctx.signal.throwIfAborted();
      const tookMs = Math.ceil(performance.now() - startedAt);
      telemetry.agentTurn.emit({ agent: definition.name, ok: false, tookMs, inputTokens: 0, outputTokens: 0 });
      if (!budget.aborted || error !== budget.reason) return this.afterFailure(error, turn, tookMs);
      await parts.journal.countFailure(ctx.callId, turn, Math.max(tookMs, leftMs));
      return undefined;
    }
  }

  /** Suspends the run before the next request, which releases the slot, until too many have failed. @throws ToolError */
  private async afterFailure(error: unknown, turn: number, tookMs: number): Promise<Suspension> {
    const { ctx, definition, parts } = this;
    if (!(error instanceof ModelFailure)) throw error;
    const failures = await parts.journal.countFailure(ctx.callId, turn, tookMs);
    if (error.retryable && failures < TRIES) return new Suspension(Math.max(error.retryAfterMs ?? 0, FIRST_RETRY_MS * 2 ** (failures - 1)));
    throw new ToolError('unavailable', `The model ${definition.model.name} of the sub-agent ${definition.name} failed: ${error.message}.`, {
      retryable: false,
    });
  }

  /**
   * Error of a rejected run. If its call is over, waits for the abort of the signal, at the latest by a lease renewal, and
   * rejects with its reason.
   */
  private async refusal({ message, isOver }: Refused): Promise<ToolError> {
    const { signal } = this.ctx;
    if (isOver && !signal.aborted) await once(signal, 'abort');
    signal.throwIfAborted();
    return new ToolError('policy_denied', message);
  }

  /** Budget of each of `share` sub-agents. */
  private left(spent: Spent, share: number): AgentBudget {
    const part = (limit: number, used: number) => Math.max(0, Math.floor((limit - used) / share));
    const { depth, tokens, modelMs, calls } = this.limits;
    return {
      depth: depth - 1,
      tokens: part(tokens, spent.tokens),
      modelMs: part(modelMs, spent.modelMs),
      calls: Math.max(0, Math.floor((calls - spent.calls - share) / share)),
    };
  }
}

/** Most tool names in the progress of a turn; an answer may have hundreds. */
const NAMED_TOOLS = 20;

function progressOf(turn: number, turns: number, wanted: readonly { readonly tool: string }[]): ProgressData {
  const names = wanted.slice(0, NAMED_TOOLS).map(({ tool }) => tool);
  const more = wanted.length > NAMED_TOOLS ? [`${wanted.length - NAMED_TOOLS} more`] : [];
  return { message: `[${turn}/${turns}] Executing tools: ${[...names, ...more].join(', ')}`, done: turn - 1, total: turns };
}
