import type { Client } from '@modelcontextprotocol/client';
import { ToolError } from '#tool-sdk';
import { z } from 'zod';

const REQUEST_MS = 10_000;
/** How soon a server learns that a suspended call was cancelled. */
const LOOK_MS = 2_000;
/** A worker that goes on with the call may take it a little late. */
const SLACK_MS = 5_000;

/** Cancels tasks whose calls are over. Never throws: a server that does not listen keeps its task until its TTL. */
export class TaskWatch {
  private readonly watched = new Map<string, NodeJS.Timeout>();

  constructor(
    private readonly client: Pick<Client, 'request'>,
    private readonly isOver: (callId: string) => Promise<boolean>,
  ) {}

  /** Until the call goes on, here or on another worker. */
  start(callId: string, taskId: string, forMs: number): void {
    this.stop(callId);
    const until = performance.now() + forMs + SLACK_MS;
    const timer = setInterval(() => {
      if (performance.now() >= until) return this.stop(callId);
      void this.isOver(callId)
        .catch(() => false)
        .then((over) => {
          if (!over || this.watched.get(callId) !== timer) return;
          this.stop(callId);
          this.cancel(taskId);
        });
    }, LOOK_MS);
    timer.unref();
    this.watched.set(callId, timer);
  }

  stop(callId: string): void {
    clearInterval(this.watched.get(callId));
    this.watched.delete(callId);
  }

  /** An attempt was aborted. Its task goes on where another attempt may. */
  aborted(taskId: string, reason: unknown): void {
    if (!(reason instanceof ToolError && reason.code === 'worker_lost')) this.cancel(taskId);
  }

  cancel(taskId: string): void {
    void this.client.request({ method: 'tasks/cancel', params: { taskId } }, z.unknown(), { timeout: REQUEST_MS }).catch(() => undefined);
  }

  close(): void {
    for (const callId of this.watched.keys()) this.stop(callId);
  }
}
