import { specTypeSchemas, type CallToolResult, type Client, type InputRequiredResult, type Tool } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { Json, type JsonValue } from '#contracts';
import { Suspension, ToolError, type ToolContext } from '#tool-sdk';
import { OPEN_MS } from '../questions/open-call.js';
import type { OpenCalls } from '../questions/open-calls.js';
import type { OwnSampling } from '../questions/own-sampling.js';
import { FollowedTask } from './followed-task.js';
import { PolledTask } from './polled-task.js';
import { CreatedTask, pollMs, taskIn, taskState, TaskState, type ServerTask } from './task.js';
import { carryResult } from '../answers/carried-result.js';
import { TaskSupport } from './task-support.js';
import { TaskWatch } from './task-watch.js';

export type McpResult = CallToolResult | InputRequiredResult;

export interface McpTasksParts {
  readonly source: string;
  readonly client: Client;
  readonly open: OpenCalls<McpResult>;
  readonly isOver: (callId: string) => Promise<boolean>;
  readonly tasksOutlive: boolean;
  readonly redact: <T>(value: T) => T;
  readonly own?: OwnSampling | undefined;
}

/**
 * Calls that a server runs as tasks. The id of a task is kept with its call as soon as it is known, so no later attempt
 * begins a second one.
 */
export class McpTasks {
  private readonly support: TaskSupport;
  private readonly watch: TaskWatch;
  private readonly polled: PolledTask;
  private readonly followed: FollowedTask<McpResult>;

  constructor(private readonly parts: McpTasksParts) {
    const { client, open, tasksOutlive: outlive, redact } = parts;
    this.support = new TaskSupport(client, outlive);
    this.watch = new TaskWatch(client, parts.isOver);
    this.polled = new PolledTask({ ...parts, watch: this.watch });
    this.followed = new FollowedTask({ client, open, watch: this.watch, outlive, redact });
  }

  listed(tools: readonly Tool[]): void {
    this.support.listed(tools);
  }

  forgetTools(): void {
    this.support.forget();
  }

  wants(name: string, signal: AbortSignal): Promise<boolean> {
    return this.support.wants(name, signal);
  }

  /** Revision 2025-11-25: begins a task. */
  async create(params: Record<string, unknown>, ctx: ToolContext): Promise<McpResult | Suspension> {
    const timeout = Math.max(1, ctx.deadline - Date.now());
    const task = { ttl: timeout + OPEN_MS };
    const answer = await this.parts.client.request({ method: 'tools/call', params: { ...params, task } }, z.unknown(), {
      signal: ctx.signal,
      timeout,
    });
    const created = CreatedTask.safeParse(answer).data;
    if (created === undefined) return resultInPlaceOfTask(answer);
    const state = taskState(created.task.taskId, this.parts.open.id);
    return this.parts.tasksOutlive ? this.kept(state, 0, ctx) : this.followed.follow(state, ctx);
  }

  /** Revision 2026-07-28: the server may answer with a task. */
  orTask(result: McpResult, ctx: ToolContext): McpResult | Suspension {
    const task: ServerTask | undefined = this.isModern ? taskIn(result) : undefined;
    return task === undefined ? result : this.kept(taskState(task.taskId, this.parts.open.id), pollMs(task, 0), ctx);
  }

  /** Undefined where the call has no task. */
  async resume(kept: JsonValue | undefined, ctx: ToolContext): Promise<McpResult | Suspension | undefined> {
    const state = TaskState.safeParse(kept).data;
    if (state === undefined) return undefined;
    if (!this.isModern) {
      this.watch.stop(ctx.callId);
      return this.followed.follow(state, ctx);
    }
    const result = await this.polled.look(state, ctx);
    if (result instanceof Suspension) return result;
    return carryResult(result);
  }

  /** An answer for a task whose connection is gone is not given: the task is followed again, and asks again. */
  async afterQuestion(
    { task }: { readonly task?: JsonValue | undefined },
    ctx: ToolContext,
    resume: () => Promise<McpResult | Suspension>,
  ): Promise<McpResult | Suspension> {
    try {
      return await resume();
    } catch (error) {
      if (task === undefined || !(error instanceof ToolError) || ctx.signal.aborted) throw error;
      const again = await this.resume(task, ctx);
      if (again === undefined) throw error;
      return again;
    }
  }

  close(): void {
    this.watch.close();
  }

  private get isModern(): boolean {
    return this.parts.client.getProtocolEra() === 'modern';
  }

  private kept(state: TaskState, resumeInMs: number, ctx: ToolContext): Suspension {
    return this.polled.left(new Suspension({ resumeInMs, state: Json.parse(state) }), state, ctx);
  }
}

/** Some servers run the tool at once, whatever they were asked for. */
function resultInPlaceOfTask(answer: unknown): CallToolResult {
  const read = specTypeSchemas.CallToolResult['~standard'].validate(answer);
  return read.issues === undefined ? read.value : carryResult(answer);
}
