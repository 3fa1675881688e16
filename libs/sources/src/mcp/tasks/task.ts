import type { CallToolResult } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { Json } from '#contracts';
import { TASKS_EXTENSION } from '../questions/client-capabilities.js';
import { RoundState } from '../questions/question.js';

const POLL_MS = 1_000;
const LEAST_POLL_MS = 200;
const LONGEST_POLL_MS = 30_000;
/** A long task is asked about less and less often: an answer comes at most a tenth of its time late. */
const POLL_SHARE = 0.1;

/** A task as servers of both revisions describe it. Everything in it is the server's word. */
export const ServerTask = z.object({
  taskId: z.string().min(1).max(512),
  status: z.enum(['working', 'input_required', 'completed', 'failed', 'cancelled']),
  statusMessage: z.string().optional(),
  pollInterval: z.number().optional(),
  pollIntervalMs: z.number().optional(),
  inputRequests: z.record(z.string(), z.object({ method: z.string(), params: Json.optional() })).optional(),
  result: z.unknown().optional(),
  error: z.object({ code: z.number(), message: z.string() }).optional(),
});
export type ServerTask = z.output<typeof ServerTask>;

/** The task that a `tools/call` was answered with. */
export function taskIn({ _meta }: Pick<CallToolResult, '_meta'>): ServerTask | undefined {
  return ServerTask.safeParse(_meta?.[TASKS_EXTENSION]).data;
}

/** Revision 2025-11-25: the answer to a `tools/call` that asked for a task. */
export const CreatedTask = z.object({ task: ServerTask });

/** State that a suspended call stores about its task. */
export const TaskState = z.object({
  kind: z.literal('mcp.task'),
  taskId: z.string(),
  /** Connection on which the task began. Servers of revision 2025-11-25 may know it only there. */
  connection: z.string(),
  /** How often it was passed on to another worker. */
  tries: z.number().int(),
  /** How often in a row the server could not be asked. */
  misses: z.number().int(),
  /** Questions that were answered: a server may name them a little longer. */
  answered: z.array(z.string()),
  rounds: RoundState.optional(),
});
export type TaskState = z.output<typeof TaskState>;

export function taskState(taskId: string, connection: string): TaskState {
  return { kind: 'mcp.task', taskId, connection, tries: 0, misses: 0, answered: [] };
}

/** Delay until the next poll in milliseconds, bounded, since the server may send any value. */
export function pollMs({ pollInterval, pollIntervalMs }: Partial<ServerTask>, sinceStartMs: number): number {
  const wanted = Math.max(pollIntervalMs ?? pollInterval ?? POLL_MS, sinceStartMs * POLL_SHARE);
  return Math.min(LONGEST_POLL_MS, Math.max(LEAST_POLL_MS, wanted));
}
