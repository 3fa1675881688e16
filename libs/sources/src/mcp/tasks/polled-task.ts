import { ProtocolError, type Client, type InputRequiredResult } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { Json } from '#contracts';
import { Suspension, ToolError, type ToolContext } from '#tool-sdk';
import { withAnswer, firstRound, nextStep, sampledByOwn } from '../questions/rounds.js';
import { OPEN_MS } from '../questions/open-call.js';
import type { OwnSampling } from '../questions/own-sampling.js';
import { pollMs, ServerTask, type TaskState } from './task.js';
import type { TaskWatch } from './task-watch.js';

const REQUEST_MS = 30_000;
/** Most failed polls in a row, up to 30 s apart: a server may restart meanwhile. */
const MAX_MISSES = 20;

export interface PolledTaskParts {
  readonly source: string;
  readonly client: Client;
  readonly watch: TaskWatch;
  readonly redact: <T>(value: T) => T;
  readonly own?: OwnSampling | undefined;
}

/**
 * Tasks of revision 2026-07-28. The server holds them and any worker may ask for them: between two looks the call is
 * suspended, so that neither a slot is held nor a death of a worker ends it.
 */
export class PolledTask {
  constructor(private readonly parts: PolledTaskParts) {}

  /** Steps: give the answers that have come → look → the result, or a suspension until the next look or the next answer. */
  async look(kept: TaskState, ctx: ToolContext): Promise<unknown> {
    const { watch } = this.parts;
    const { taskId } = kept;
    watch.stop(ctx.callId);
    const stop = () => watch.aborted(taskId, ctx.signal.reason);
    ctx.signal.addEventListener('abort', stop, { once: true });
    let state = kept;
    try {
      state = this.withAnswer(kept, ctx);
      const next = await this.give(state, ctx);
      if (next instanceof Suspension) return this.left(next, state, ctx);
      // Answers are given once, also where the look after them fails.
      state = next;
      return this.left(await this.step(state, ctx), state, ctx);
    } catch (error) {
      const isFinal = error instanceof ToolError || error instanceof ProtocolError;
      if (isFinal) watch.cancel(taskId);
      if (isFinal || ctx.signal.aborted || state.misses >= MAX_MISSES) throw error;
      const misses = state.misses + 1;
      const resumeInMs = pollMs({ pollIntervalMs: 500 * 2 ** misses }, 0);
      return this.left(new Suspension({ resumeInMs, state: Json.parse({ ...state, misses }) }), state, ctx);
    } finally {
      ctx.signal.removeEventListener('abort', stop);
    }
  }

  /** The call is suspended from now on: if it is cancelled meanwhile, its task is, too. */
  left<T>(next: T, { taskId }: TaskState, ctx: ToolContext): T {
    if (next instanceof Suspension) this.parts.watch.start(ctx.callId, taskId, next.resumeInMs ?? OPEN_MS);
    return next;
  }

  private withAnswer(state: TaskState, { resumed }: ToolContext): TaskState {
    const { rounds } = state;
    if (rounds === undefined || rounds.left.length === 0 || resumed === undefined) return state;
    return { ...state, rounds: withAnswer(this.parts.source, rounds, resumed) };
  }

  /** The suspension for the next question; once all are answered, the state after the server has the answers. */
  private async give(state: TaskState, ctx: ToolContext): Promise<TaskState | Suspension> {
    if (state.rounds === undefined) return state;
    const rounds = await sampledByOwn(state.rounds, this.parts.own, ctx);
    const next = nextStep(this.parts.source, rounds, ctx.sampling === true);
    if (next instanceof Suspension) return new Suspension({ ...next.options, state: Json.parse({ ...state, rounds: next.options.state }) });
    const { inputResponses } = next.params;
    if (inputResponses === undefined) return state;
    await this.request('tasks/update', { taskId: state.taskId, inputResponses }, z.unknown(), ctx);
    const known = [...state.answered, ...Object.keys(inputResponses)];
    return { ...state, answered: known, rounds: { ...rounds, responses: {}, left: [] } };
  }

  private async step(state: TaskState, ctx: ToolContext): Promise<unknown> {
    const task = await this.request('tasks/get', { taskId: state.taskId }, ServerTask, ctx);
    if (task.taskId !== state.taskId) throw failed('The MCP server answered with another task than the one asked for.');
    const later = (next: TaskState) =>
      new Suspension({ resumeInMs: pollMs(task, ctx.sinceFirstStartMs), state: Json.parse({ ...next, misses: 0 }) });
    switch (task.status) {
      case 'completed':
        return task.result;
      case 'failed':
        throw failed(task.error?.message ?? task.statusMessage ?? 'The task of the MCP server failed.');
      case 'cancelled':
        throw failed(task.statusMessage ?? 'The MCP server cancelled its task.');
      case 'working':
        if (task.statusMessage !== undefined) ctx.onProgress({ message: this.parts.redact(task.statusMessage).slice(0, 1_000) });
        return later(state);
      case 'input_required': {
        const open = Object.entries(task.inputRequests ?? {}).filter(([key]) => !state.answered.includes(key));
        if (open.length === 0) return later(state);
        const { source, redact } = this.parts;
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each is checked before it is asked
        const inputRequests = redact(Object.fromEntries(open)) as InputRequiredResult['inputRequests'] & object;
        const rounds = firstRound(source, { inputRequests }, state.rounds?.round ?? 0, state.rounds?.sampled);
        const next = await this.give({ ...state, rounds }, ctx);
        return next instanceof Suspension ? next : later(next);
      }
    }
  }

  private request<T>(method: string, params: Record<string, unknown>, schema: z.ZodType<T>, { signal }: ToolContext): Promise<T> {
    return this.parts.client.request({ method, params }, schema, { signal, timeout: REQUEST_MS });
  }
}

function failed(message: string): ToolError {
  return new ToolError('tool_failed', message.slice(0, 2_000), { retryable: false });
}
