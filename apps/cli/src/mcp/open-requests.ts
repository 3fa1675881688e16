import type { RequestId } from '@modelcontextprotocol/client';

/** Requests of the client whose answers are not written yet. */
export class OpenRequests {
  private readonly ends = new Map<RequestId, { readonly ended: Promise<void>; readonly end: () => void }>();

  add(id: RequestId): void {
    let end = () => {};
    const ended = new Promise<void>((resolve) => (end = resolve));
    this.ends.set(id, { ended, end });
  }

  /** Idempotent. */
  end(id: RequestId): void {
    this.ends.get(id)?.end();
    this.ends.delete(id);
  }

  /** Resolves when this request has its answer; at once for one that is not open. */
  async answered(id: RequestId | undefined): Promise<void> {
    if (id !== undefined) await this.ends.get(id)?.ended;
  }

  /** Resolves when all have their answers, at the latest after `withinMs` or when `signal` aborts. */
  async allAnswered(withinMs: number, signal: AbortSignal): Promise<void> {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(withinMs)]);
    const stopped = new Promise<void>((resolve) => limit.addEventListener('abort', () => resolve(), { once: true }));
    while (this.ends.size > 0 && !limit.aborted) await Promise.race([stopped, ...[...this.ends.values()].map(({ ended }) => ended)]);
  }
}
