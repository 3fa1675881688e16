import type { InFlightAttempts } from '#attempts';
import type { Pool, WorkerFrameOf, WorkerOutput } from '#contracts';
import type { RunSourceTool } from '#sources';
import { Suspension, ToolError, type ToolContext, type ToolOutput } from '#tool-sdk';
import type { CallFrame, SessionEffect } from '../session/worker-session.js';
import type { CallGrantsService } from './call-grants.service.js';
import type { ConnectedWorker } from './connected-worker.js';
import type { WorkerOutputs } from './worker-outputs.service.js';

/** An attempt of this gateway whose tool runs in a foreign worker. */
interface RemoteCall {
  readonly context: ToolContext;
  readonly pool: Pool;
  readonly tenantId: string;
  readonly source: string;
  readonly keyId: string;
  worker: ConnectedWorker;
  /** Time of the last frame of the worker about the call, by `performance.now()`. */
  renewedAt: number;
  finished: boolean;
  /** `finish` named a text that was sent beside the frames. */
  hasOutput?: boolean;
  settle(output: ToolOutput | ToolError): void;
}

/** Reserved worker of an attempt that is about to send its call. */
export interface Placement {
  readonly worker: ConnectedWorker;
  readonly pool: Pool;
  release(): void;
  /** True if the worker already runs the attempt, which another gateway sent. */
  readonly takenOver?: { readonly cancelRequested: boolean; attached(): void };
}

/** Hands effects of a session to its transport. */
type Apply = (worker: ConnectedWorker, effects: readonly SessionEffect[]) => void;

/**
 * The calls that foreign workers run for this gateway. An attempt calls its tool here and waits; the frames of the worker
 * answer. A worker that connects again goes on with its calls on the new connection.
 */
export class RemoteCalls {
  private readonly calls = new Map<string, RemoteCall>();
  private readonly placements = new Map<string, Placement>();

  constructor(
    private readonly inFlight: Pick<InFlightAttempts, 'byCallId'>,
    private readonly grants: Pick<CallGrantsService, 'of'>,
    private readonly outputs: Pick<WorkerOutputs, 'get' | 'forget'>,
    private readonly apply: Apply,
    /** True if the current key of the worker allows the call. */
    private readonly mayRun: (worker: ConnectedWorker) => boolean,
  ) {}

  /** Stores the placement of a call. Called before its attempt runs. */
  place(callId: string, placement: Placement): void {
    this.placements.set(callId, placement);
  }

  readonly run: RunSourceTool = async ({ name }, rawName, args, context) => {
    const { callId, fence } = context;
    const placement = this.placements.get(callId);
    const grants = placement && (await this.grants.of(placement.worker, rawName, context));
    if (placement === undefined || (placement.takenOver === undefined && !this.canTake(placement)))
      throw new ToolError('unavailable', `The worker of ${name} went away before the call was sent to it.`, { retryable: true });
    const { worker, pool, takenOver } = placement;
    placement.release();
    const answer = new Promise<ToolOutput>((resolve, reject) => {
      const settle = (output: ToolOutput | ToolError) => (output instanceof ToolError ? reject(output) : resolve(output));
      const { tenantId, source, principal } = worker;
      const renewedAt = performance.now();
      const call: RemoteCall = { context, pool, tenantId, source, keyId: principal.keyId, worker, renewedAt, finished: false, settle };
      const key = keyOf(callId, fence);
      this.calls.set(key, call);
      context.signal.addEventListener('abort', () => this.calls.get(key) === call && this.sendCancel(call), { once: true });
    });
    if (takenOver === undefined) this.apply(worker, worker.session.assign({ ...callFrame(rawName, args, context), ...grants }, pool));
    else {
      takenOver.attached();
      this.apply(worker, worker.session.attach(callId, fence, pool));
    }
    if (takenOver?.cancelRequested) this.abort(callId, 'cancelled');
    return answer;
  };

  /** Releases the placement of an attempt that is over or was not claimed. */
  unplace(callId: string, placement: Placement): void {
    placement.release();
    if (this.placements.get(callId) === placement) this.placements.delete(callId);
  }

  /** Answers the worker about an attempt that is over. `written`: its outcome is in the log. */
  ended(callId: string, fence: number, written: boolean): void {
    const call = this.calls.get(keyOf(callId, fence));
    if (call === undefined) return;
    this.calls.delete(keyOf(callId, fence));
    const { worker, finished } = call;
    this.apply(worker, worker.session.settle(callId, fence, written && finished ? 'done' : 'stale'));
    if (call.hasOutput) void this.outputs.forget(worker.tenantId, callId, fence);
  }

  /** Handles a frame of the worker about one of its calls. */
  take(frame: CallFrame): void {
    const call = this.calls.get(keyOf(frame.callId, frame.fence));
    if (call === undefined) return;
    call.renewedAt = performance.now();
    const { context } = call;
    switch (frame.op) {
      case 'started':
        return;
      case 'update':
        return context.onUpdate(frame.content);
      case 'progress': {
        const { op: _op, callId: _id, fence: _fence, ...progress } = frame;
        return context.onProgress(progress);
      }
      case 'suspend':
        call.finished = true;
        return call.settle(suspensionOf(frame));
      case 'finish':
        call.finished = true;
        return frame.output === undefined ? call.settle(outputOf(frame)) : void this.finishWith(call, frame, frame.output);
    }
  }

  /** Appends the output that was sent beside the frames to the content of `finish`. Never rejects. */
  private async finishWith(call: RemoteCall, frame: WorkerFrameOf<'finish'>, output: WorkerOutput): Promise<void> {
    call.hasOutput = true;
    try {
      const text = await this.outputs.get(frame.callId, frame.fence, output);
      if (text === undefined) throw new ToolError('output_invalid', `The worker named an output ${output.sha256} that it has not sent.`);
      call.settle(outputOf({ ...frame, content: [...(frame.content ?? []), { type: 'text', text }] }));
    } catch (error) {
      call.settle(error instanceof ToolError ? error : new ToolError('internal', 'The output of the worker could not be read.'));
    }
  }

  renewed(callId: string, fence: number): void {
    const call = this.calls.get(keyOf(callId, fence));
    if (call !== undefined) call.renewedAt = performance.now();
  }

  /** Attaches a call to the new connection of its worker. False when this gateway has no such call for the worker. */
  attach(worker: ConnectedWorker, callId: string, fence: number): boolean {
    const call = this.calls.get(keyOf(callId, fence));
    if (call === undefined || call.tenantId !== worker.tenantId) return false;
    if (call.source !== worker.source || call.keyId !== worker.principal.keyId) return false;
    const before = call.worker.session.detach(callId, fence);
    call.worker = worker;
    call.renewedAt = performance.now();
    this.apply(worker, worker.session.attach(callId, fence, call.pool, before));
    if (call.context.signal.aborted) this.sendCancel(call);
    return true;
  }

  /** Ends calls without a frame for `leaseMs` as lost leases. */
  expire(leaseMs: number): void {
    for (const { context, renewedAt, finished } of this.calls.values())
      if (!finished && performance.now() - renewedAt > leaseMs) this.abort(context.callId, 'lease_lost');
  }

  /** Requeues the calls of a worker that left for good, or ends them as unknown. */
  requeue(worker: ConnectedWorker): void {
    for (const call of this.calls.values()) if (call.worker === worker && !call.finished) this.abort(call.context.callId, 'drained');
  }

  /** Leaves the calls to another gateway, and sends nothing more about them to workers or the log. */
  handOver(): void {
    const calls = [...this.calls.values()];
    this.calls.clear();
    for (const { context } of calls) this.abort(context.callId, 'lease_lost');
  }

  private canTake({ worker, pool }: Placement): boolean {
    return !worker.isGone && this.mayRun(worker) && worker.session.creditOf(pool) > 0;
  }

  private abort(callId: string, reason: 'lease_lost' | 'drained' | 'cancelled'): void {
    for (const attempt of this.inFlight.byCallId(callId)) attempt.abort(reason, reason === 'cancelled' ? undefined : 0);
  }

  private sendCancel({ context, worker }: RemoteCall): void {
    const { callId, fence, graceMs } = context;
    const reason = this.inFlight.byCallId(callId).at(-1)?.abortInfo?.reason ?? 'cancelled';
    this.apply(worker, worker.session.cancel(callId, fence, reason, graceMs));
  }
}

function keyOf(callId: string, fence: number): string {
  return `${callId}/${fence}`;
}

function callFrame(
  tool: string,
  args: Readonly<Record<string, unknown>>,
  context: ToolContext,
): Parameters<ConnectedWorker['session']['assign']>[0] {
  const { callId, fence, attempt, deadline, sessionId, traceparent, resumed } = context;
  return {
    op: 'call',
    callId,
    fence,
    attempt,
    tool,
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- arguments were parsed from JSON and checked
    arguments: args as Parameters<ConnectedWorker['session']['assign']>[0]['arguments'],
    deadlineMs: Math.max(0, Math.round(deadline - Date.now())),
    ...(sessionId === undefined ? {} : { session: sessionId }),
    ...(traceparent === undefined ? {} : { traceparent }),
    ...(resumed === undefined ? {} : { resumed }),
  };
}

function suspensionOf({ resumeInMs, until, prompt, inputSchema, state }: WorkerFrameOf<'suspend'>): Suspension {
  return new Suspension({
    ...(resumeInMs === undefined ? {} : { resumeInMs }),
    ...(until === undefined ? {} : { until }),
    ...(prompt === undefined ? {} : { prompt }),
    ...(inputSchema === undefined ? {} : { inputSchema }),
    ...(state === undefined ? {} : { state }),
  });
}

function outputOf({ outcome, content = [], isError, structuredContent, error }: WorkerFrameOf<'finish'>): ToolOutput | ToolError {
  if (outcome === 'failed') {
    const { message = 'The worker said no reason.', retryable = false } = error ?? {};
    return new ToolError('tool_failed', message, { retryable });
  }
  return {
    content,
    ...(isError === undefined ? {} : { isError }),
    ...(structuredContent === undefined ? {} : { structuredContent }),
  };
}
