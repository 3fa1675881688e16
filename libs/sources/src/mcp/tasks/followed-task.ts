import { ProtocolError, specTypeSchemas, type CallToolResult, type Client } from '@modelcontextprotocol/client';
import { Json } from '#contracts';
import { setTimeout as wait } from 'node:timers/promises';
import { Suspension, ToolError, type ToolContext } from '#tool-sdk';
import { OPEN_MS, type OpenCall } from '../questions/open-call.js';
import { MAX_TRIES, PASS_ON_MS, type OpenCalls } from '../questions/open-calls.js';
import { pollMs, ServerTask, type TaskState } from './task.js';
import type { TaskWatch } from './task-watch.js';

const REQUEST_MS = 30_000;

export interface FollowedTaskParts<T> {
  readonly client: Client;
  readonly open: OpenCalls<T | CallToolResult>;
  readonly watch: TaskWatch;
  /** Tasks are there after the connection is gone. */
  readonly outlive: boolean;
  readonly redact: (text: string) => string;
}

/**
 * Tasks of revision 2025-11-25. The server asks its questions on the connection that waits for the result, so an attempt
 * follows the task to its end. Where it ends before, the next attempt follows the same task.
 */
export class FollowedTask<T> {
  constructor(private readonly parts: FollowedTaskParts<T>) {}

  /** @throws what the server says, or that the task is gone */
  async follow(state: TaskState, ctx: ToolContext): Promise<T | CallToolResult | Suspension> {
    const { open, outlive } = this.parts;
    const again = (resumeInMs: number, change: Partial<TaskState>) =>
      new Suspension({ resumeInMs, state: Json.parse({ ...state, ...change }) });
    const isElsewhere = state.connection !== open.id;
    // A program of another worker may have a task of the same name.
    if (isElsewhere && !outlive) throw gone();
    try {
      const result = await open.begin((call) => this.result(state.taskId, call, ctx), ctx, state.taskId);
      return result instanceof Suspension ? this.withTask(result, state) : result;
    } catch (error) {
      const { signal } = ctx;
      if (outlive && signal.aborted && signal.reason instanceof ToolError && signal.reason.code === 'worker_lost') return again(0, {});
      // Some servers keep the tasks of each session apart: the worker that began it is looked for.
      if (!isElsewhere || signal.aborted || !(error instanceof ProtocolError) || state.tries >= MAX_TRIES) throw error;
      if (await this.isKnown(state.taskId, signal)) throw error;
      return again(PASS_ON_MS, { tries: state.tries + 1 });
    }
  }

  /**
   * True if the server knows the task, so that the error is the task's. Servers with tasks per session do not know it on this
   * connection.
   */
  private async isKnown(taskId: string, signal: AbortSignal): Promise<boolean> {
    try {
      const task = await this.parts.client.request({ method: 'tasks/get', params: { taskId } }, ServerTask, {
        signal,
        timeout: REQUEST_MS,
      });
      return task.taskId === taskId;
    } catch (error) {
      if (error instanceof ProtocolError) return false;
      throw error;
    }
  }

  private async result(taskId: string, call: OpenCall<T | CallToolResult>, ctx: ToolContext): Promise<CallToolResult> {
    const { client, watch } = this.parts;
    const done = new AbortController();
    call.signal.addEventListener('abort', () => watch.aborted(taskId, call.signal.reason), { once: true, signal: done.signal });
    void this.report(taskId, call, AbortSignal.any([call.signal, done.signal]), ctx.sinceFirstStartMs).catch(() => undefined);
    try {
      const timeout = Math.max(1, ctx.deadline - Date.now()) + REQUEST_MS + OPEN_MS;
      return await client.request({ method: 'tasks/result', params: { taskId } }, specTypeSchemas.CallToolResult, {
        signal: call.signal,
        timeout,
      });
    } finally {
      done.abort();
    }
  }

  /** Reports the status of the task as progress of the call. */
  private async report(taskId: string, call: OpenCall<T | CallToolResult>, signal: AbortSignal, sinceStartMs: number): Promise<void> {
    const began = performance.now();
    for (;;) {
      const task = await this.parts.client.request({ method: 'tasks/get', params: { taskId } }, ServerTask, {
        signal,
        timeout: REQUEST_MS,
      });
      if (signal.aborted) return;
      if (task.taskId === taskId && task.statusMessage !== undefined)
        call.onProgress({ message: this.parts.redact(task.statusMessage).slice(0, 1_000) });
      await wait(pollMs(task, sinceStartMs + performance.now() - began), undefined, { signal, ref: false });
    }
  }

  private withTask({ options }: Suspension, state: TaskState): Suspension {
    if (!this.parts.outlive || typeof options.state !== 'object' || options.state === null || Array.isArray(options.state))
      return new Suspension(options);
    return new Suspension({ ...options, state: Json.parse({ ...options.state, task: state }) });
  }
}

function gone(): ToolError {
  const message =
    'The program of the MCP server that ran the task is gone. What it had done is not known: check before you repeat the call.';
  return new ToolError('tool_failed', message, { retryable: false });
}
