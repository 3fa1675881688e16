import { Json } from '#contracts';
import { everyMs, type Ticker } from '#timing';
import type { ToolContext } from '#tool-sdk';
import { SamplingBudget, type OwnSampling, type SamplingContext } from './own-sampling.js';
import type { Asked, Given } from './question.js';

/** How long a server is let wait for the answer to a question. Then it reads that none came. */
export const OPEN_MS = 600_000;
const SLACK_MS = 10_000;
/** How soon a server learns that the call that it waits for was cancelled. */
const LOOK_MS = 2_000;

/** Context of an attempt that follows the call. */
type Follower = Pick<ToolContext, 'onProgress'> & SamplingContext;

type Outcome<T> = { readonly kind: 'result'; readonly result: T } | { readonly kind: 'question'; readonly asked: Asked };

interface OpenQuestion {
  readonly asked: Asked;
  readonly answer: (given: Given) => void;
}

/** `tools/call` in progress. While the server waits for an answer, the call outlives its first attempt; the next attempt joins it. */
export class OpenCall<T> {
  readonly signal: AbortSignal;
  private readonly over = new AbortController();
  private readonly result: Promise<Outcome<T>>;
  private question: OpenQuestion | undefined;
  private hasAsked = () => {};
  private attempt: Follower | undefined;
  private readonly budget = new SamplingBudget();
  private expiry: Ticker | undefined;

  /** `sampling`: whether its client offers its model. `taskId`: of the task that it follows. */
  constructor(
    readonly sampling: boolean,
    begin: (call: OpenCall<T>) => Promise<T>,
    readonly taskId?: string,
  ) {
    this.signal = this.over.signal;
    this.result = begin(this).then((result) => ({ kind: 'result', result }));
    // Handled here, since the call may fail while no attempt waits for it; the next attempt gets the error.
    this.result.catch(() => undefined);
  }

  readonly onProgress: ToolContext['onProgress'] = (progress) => this.attempt?.onProgress(progress);

  /** The server asks. Resolves with the answer; an older question of the same call is not answered any more. */
  ask(asked: Asked): Promise<Given> {
    this.question?.answer({});
    return new Promise((answer) => {
      this.question = { asked, answer };
      this.hasAsked();
    });
  }

  /** The server asks for a model, and that of the operator answers while an attempt is there. */
  async sample(own: OwnSampling, params: unknown): Promise<Given> {
    if (this.attempt === undefined) return { refused: 'no attempt is under way' };
    try {
      return { value: Json.parse(await own.answer(params, this.budget, this.attempt)) };
    } catch (error) {
      return { refused: error instanceof Error ? error.message : String(error) };
    }
  }

  answer(given: Given): void {
    const { question } = this;
    this.question = undefined;
    question?.answer(given);
  }

  /** Waits until the End of the call or a question. Rejects with the reason of the attempt's signal, which ends the call. */
  async follow(ctx: Follower): Promise<Outcome<T>> {
    this.expiry?.unsubscribe();
    this.attempt = ctx;
    const stop = () => this.end(ctx.signal.reason);
    ctx.signal.addEventListener('abort', stop, { once: true });
    try {
      ctx.signal.throwIfAborted();
      const question = new Promise<void>((resolve) => (this.hasAsked = resolve));
      if (this.question === undefined) await Promise.race([this.result, question]);
      return this.question === undefined ? await this.result : { kind: 'question', asked: this.question.asked };
    } finally {
      ctx.signal.removeEventListener('abort', stop);
      this.attempt = undefined;
    }
  }

  /**
   * Ends a call without an attempt, and calls `then`, if no answer has come in time or the call of Toolyard is over, by a poll
   * of `isOver` every few seconds.
   */
  leave(isOver: () => Promise<boolean>, then: () => void): void {
    const until = performance.now() + OPEN_MS + SLACK_MS;
    this.expiry = everyMs(LOOK_MS, async () => {
      const over = performance.now() >= until || (await isOver());
      if (!over || this.attempt !== undefined || this.signal.aborted) return;
      this.end(new Error('no answer to the question of the server came in time'));
      then();
    });
  }

  end(reason: unknown): void {
    this.expiry?.unsubscribe();
    this.over.abort(reason);
    this.answer({});
  }
}
