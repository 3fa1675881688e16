import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { Json } from '#contracts';
import { Suspension, ToolError, type ToolContext } from '#tool-sdk';
import { OPEN_MS, OpenCall } from './open-call.js';
import type { OwnSampling } from './own-sampling.js';
import { givenAnswer, questionOf, type Asked, type AskedState, type Given } from './question.js';
import { z } from 'zod';

/** Revision 2025-11-25: names the task to which a request of the server belongs. */
const RELATED_TASK = 'io.modelcontextprotocol/related-task';
const Related = z.object({ _meta: z.object({ [RELATED_TASK]: z.object({ taskId: z.string() }) }) });

function relatedTask(params: unknown): string | undefined {
  return Related.safeParse(params).data?._meta[RELATED_TASK].taskId;
}

/** Delay and limit for passing on an answer, which any free worker may take, to the worker with the connection. */
export const PASS_ON_MS = 200;
export const MAX_TRIES = 100;

type OpenState = Extract<AskedState, { kind: 'mcp.open' }>;

/**
 * The calls under way on one connection, and the questions that a server of a revision before 2026-07-28 asks during them.
 * Except for tasks, the protocol does not say which call such a question is about. So it is passed on only while one call
 * is under way: a person of another tenant could read it otherwise.
 */
export class OpenCalls<T> {
  readonly id = randomUUID();
  private readonly running = new Set<OpenCall<T>>();
  private readonly left = new Map<string, OpenCall<T>>();

  /** `isOver`: whether a call of Toolyard has ended, so that no answer will come. `own`: answers for models instead of clients. */
  constructor(
    private readonly source: string,
    private readonly isOver: (callId: string) => Promise<boolean>,
    private readonly own?: OwnSampling,
  ) {}

  /** Follows a new call to its result, or to a question. */
  begin(begin: (call: OpenCall<T>) => Promise<T>, ctx: ToolContext, taskId?: string): Promise<T | Suspension> {
    const call = new OpenCall(ctx.sampling === true, begin, taskId);
    this.running.add(call);
    return this.follow(call, ctx);
  }

  /** The answer has come, or its time is over. @throws ToolError when the call is not under way any more */
  async resume(state: OpenState, ctx: ToolContext): Promise<T | Suspension> {
    const given = ctx.resumed?.reason === 'input' ? givenAnswer(ctx.resumed) : (state.given ?? {});
    const call = this.left.get(ctx.callId);
    if (state.connection !== this.id || call === undefined) {
      if (state.connection === this.id || state.tries >= MAX_TRIES) throw gone();
      const passedOn = { ...state, tries: state.tries + 1, given };
      return new Suspension({ resumeInMs: PASS_ON_MS, state: Json.parse(passedOn) });
    }
    this.left.delete(ctx.callId);
    call.answer(given);
    return this.follow(call, ctx);
  }

  /** The server asks. */
  async ask(asked: Asked): Promise<Given> {
    // A result that came in the same chunk before the question ends its call first.
    await setImmediate();
    const taskId = relatedTask(asked.params);
    const [call, ...others] = taskId === undefined ? this.running : [...this.running].filter((it) => it.taskId === taskId);
    if (call === undefined || others.length > 0) return { refused: 'it is not clear which call the question is about' };
    if (this.own !== undefined && asked.method === 'sampling/createMessage') return call.sample(this.own, asked.params);
    const question = questionOf(this.source, asked, call.sampling);
    return typeof question === 'string' ? { refused: question } : call.ask(asked);
  }

  /** The connection is closed, which also ends the calls. */
  close(): void {
    for (const call of this.running) call.answer({});
    this.running.clear();
    this.left.clear();
  }

  private async follow(call: OpenCall<T>, ctx: ToolContext): Promise<T | Suspension> {
    let isLeft = false;
    try {
      const outcome = await call.follow(ctx);
      if (outcome.kind === 'result') return outcome.result;
      isLeft = true;
      return this.leave(call, outcome.asked, ctx.callId);
    } finally {
      if (!isLeft) this.running.delete(call);
    }
  }

  private leave(call: OpenCall<T>, asked: Asked, callId: string): Suspension {
    this.left.set(callId, call);
    const over = () => {
      this.running.delete(call);
      if (this.left.get(callId) === call) this.left.delete(callId);
    };
    call.leave(() => this.isOver(callId), over);
    const { method, params } = asked;
    const question = questionOf(this.source, asked, call.sampling);
    const shown = typeof question === 'string' ? {} : question;
    const state: OpenState = { kind: 'mcp.open', connection: this.id, method, params: Json.parse(params), tries: 0 };
    return new Suspension({ until: 'input', ...shown, declinable: true, resumeInMs: OPEN_MS, state: Json.parse(state) });
  }
}

function gone(): ToolError {
  const message =
    'The MCP server asked for input on a connection that is gone. What it had done is not known: check before you repeat the call.';
  return new ToolError('tool_failed', message, { retryable: false });
}
