import type { Client } from '@modelcontextprotocol/client';
import { everyMs, type Ticker } from '#timing';
import { ToolError } from '#tool-sdk';
import { z } from 'zod';

const REQUEST_MS = 10_000;
/** How soon a server learns that a suspended call was cancelled. */
const LOOK_MS = 2_000;
/** A worker that goes on with the call may take it a little late. */
const SLACK_MS = 5_000;

/** Cancels tasks whose calls are over. Never throws: a server that does not listen keeps its task until its TTL. */
export class TaskWatch {
  private readonly watched = new Map<string, Ticker>();

  constructor(
    private readonly client: Pick<Client, 'request'>,
    private readonly isOver: (callId: string) => Promise<boolean>,
  ) {}

  /** Watches the call until it continues, here or on another worker. */
  start(callId: string, taskId: string, forMs: number): void {
    this.stop(callId);
    const until = performance.now() + forMs + SLACK_MS;
    const ticker = everyMs(LOOK_MS, async () => {
      if (performance.now() >= until) return this.stop(callId);
      const isOver = await this.isOver(callId);
      if (!isOver || this.watched.get(callId) !== ticker) return;
      this.stop(callId);
      this.cancel(taskId);
    });
    this.watched.set(callId, ticker);
  }

  stop(callId: string): void {
    this.watched.get(callId)?.unsubscribe();
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
