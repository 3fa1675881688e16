import {
  hasLargerObject,
  hasMoreParts,
  LIMITS,
  WORKER_LIMITS,
  type WorkerOutput,
  type WorkerCall,
  type WorkerFrame,
  type WorkerFrameOf,
} from '#contracts';
import { Suspended, WorkerToolError, type RunnableTool, type WorkerToolContext, type WorkerToolOutput } from './worker-tool.js';

type End = Pick<WorkerFrameOf<'finish'>, 'outcome' | 'content' | 'isError' | 'structuredContent' | 'error' | 'output'>;

/** Sends an output beside the frames. @throws WorkerToolError if the gateway rejects it */
export type SendOutput = (
  key: { readonly callId: string; readonly fence: number },
  text: string,
  cut: AbortSignal,
) => Promise<WorkerOutput>;

/** Bytes reserved for the other fields of the frame. */
const FRAME_OVERHEAD = 1_024;

/** One attempt in this worker. Repeats `finish` until the gateway confirms that it is written. */
export class RunningCall {
  readonly key: { readonly callId: string; readonly fence: number };
  private readonly aborter = new AbortController();
  private wseq = 0;
  private last: WorkerFrame | undefined;
  private hasEnded = false;
  private isAnswered = false;
  /** Aborts the output of a lost call. */
  private readonly answered = new AbortController();

  constructor(
    readonly frame: WorkerCall,
    private readonly send: (frame: WorkerFrame) => void,
    private readonly sendOutput: SendOutput,
    /** Called once, when the tool has ended and no frame about the call is left to send. */
    private readonly over: () => void,
  ) {
    this.key = { callId: frame.callId, fence: frame.fence };
  }

  /** Never rejects. */
  async run(tool: RunnableTool | undefined): Promise<void> {
    this.say({ op: 'started', ...this.key });
    try {
      if (tool === undefined) throw new WorkerToolError(`This worker has no tool ${this.frame.tool}.`, { code: 'unknown_tool' });
      await this.end(await tool.run(this.frame.arguments, this.context()));
    } catch (error) {
      this.finish(failureOf(error));
    }
    this.hasEnded = true;
    if (this.isAnswered) this.over();
  }

  /** True if its lease is to be renewed. */
  get isHeld(): boolean {
    return !this.isAnswered;
  }

  /** Requests the tool to stop. Its result still counts. */
  cancel(reason: string): void {
    this.aborter.abort(new WorkerToolError(`The call is to stop: ${reason}`, { code: 'cancelled' }));
  }

  /** Handles the loss of the call to another worker: stops the tool, and sends nothing more about it. */
  stale(): void {
    this.answered.abort();
    this.settle();
    this.cancel('lease_lost');
  }

  /** Handles the confirmation of `finish`. */
  settle(): void {
    if (this.isAnswered) return;
    this.isAnswered = true;
    if (this.hasEnded) this.over();
  }

  /** Sends the end again; nothing while the tool runs. */
  repeat(): void {
    if (this.last !== undefined) this.say(this.last);
  }

  /** Handles a rejected end. Replaces it by a failure; a rejected failure is dropped. */
  refused(detail: string): void {
    if (this.last === undefined) return;
    const isFailure = this.last.op === 'finish' && this.last.error?.code === 'refused';
    if (isFailure) this.settle();
    else this.finish(failureOf(new WorkerToolError(`The gateway refused the result: ${detail}`, { code: 'refused' })));
  }

  private say(frame: WorkerFrame): void {
    if (!this.isAnswered) this.send(frame);
  }

  private async end(output: WorkerToolOutput): Promise<void> {
    if (!(output instanceof Suspended)) return this.finish(await this.besideFrame(endOf(output)));
    const { resumeInMs, ...options } = output.options;
    const wait = resumeInMs === undefined ? {} : { resumeInMs: Math.max(0, Math.round(resumeInMs)) };
    this.last = orTooLarge({ op: 'suspend', ...this.key, ...wait, ...options }, ++this.wseq);
    this.say(this.last);
  }

  /** Sends the texts of a result that is too large for a frame separately, as one text. */
  private async besideFrame(end: End): Promise<End> {
    const { content = [], ...rest } = end;
    const texts = content.filter((item) => item.type === 'text');
    if (texts.length === 0 || fitsFrame(end)) return end;
    const output = await this.sendOutput(this.key, texts.map(({ text }) => text).join('\n'), this.answered.signal);
    return { ...rest, content: content.filter((item) => item.type !== 'text'), output };
  }

  private finish(end: End): void {
    this.wseq += 1;
    this.last = orTooLarge({ op: 'finish', ...this.key, wseq: this.wseq, ...end }, this.wseq);
    this.say(this.last);
  }

  private context(): WorkerToolContext {
    const { callId, fence, attempt, resumed, session, workspace, secrets = {}, traceparent, deadlineMs } = this.frame;
    return {
      callId,
      fence,
      attempt,
      resumed,
      sessionId: session,
      workspace,
      secrets,
      traceparent,
      signal: this.aborter.signal,
      deadline: Date.now() + deadlineMs,
      onUpdate: (content) => {
        this.wseq += 1;
        this.say({
          op: 'update',
          ...this.key,
          wseq: this.wseq,
          content: typeof content === 'string' ? [{ type: 'text', text: content }] : [...content],
        });
      },
      onProgress: (progress) => this.say({ op: 'progress', ...this.key, ...progress }),
    };
  }
}

function fitsFrame(value: object): boolean {
  const json = JSON.stringify(value);
  if (hasMoreParts(json, WORKER_LIMITS.jsonParts) || hasLargerObject(json, LIMITS.jsonParts)) return false;
  return bytesOf(value) <= WORKER_LIMITS.frameBytes - FRAME_OVERHEAD;
}

function bytesOf(value: object): number {
  return new TextEncoder().encode(JSON.stringify(value)).length;
}

/** The frame, or a failure if it is too large. */
function orTooLarge(frame: WorkerFrameOf<'finish' | 'suspend'>, wseq: number): WorkerFrame {
  if (fitsFrame(frame)) return frame;
  const bytes = bytesOf(frame);
  const what = frame.op === 'finish' ? 'result' : 'state';
  const limits = `${WORKER_LIMITS.frameBytes} bytes and ${WORKER_LIMITS.jsonParts} members and items, ${LIMITS.jsonParts} in one object`;
  const error = new WorkerToolError(`The ${what} has ${bytes} bytes; expected at most ${limits}.`, { code: 'too_large' });
  return { op: 'finish', callId: frame.callId, fence: frame.fence, wseq, ...failureOf(error) };
}

function endOf(output: Exclude<WorkerToolOutput, Suspended>): End {
  if (typeof output === 'string') return { outcome: 'completed', content: [{ type: 'text', text: output }] };
  if (!('content' in output)) return { outcome: 'completed', content: [...output] };
  const { content, isError, structuredContent } = output;
  return {
    outcome: 'completed',
    content: [...content],
    isError,
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- JSON.stringify makes it JSON, and the gateway checks it
    ...(structuredContent === undefined ? {} : { structuredContent: structuredContent as End['structuredContent'] }),
  };
}

function failureOf(error: unknown): End {
  const message = (error instanceof Error ? error.message : String(error)).slice(0, 8_000);
  const { code = 'failed', retryable = false } = error instanceof WorkerToolError ? error.options : {};
  return { outcome: 'failed', error: { code, message, retryable } };
}
