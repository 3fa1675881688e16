import { Pool } from 'undici';
import type { Batch } from '#contracts';

const CALLS = 100;

/**
 * Posts batches of 100 calls that run at the same time, and waits for their results, as a model's turn does: the first answer has
 * no ids yet. The calls of the last request are those that are left.
 */
export class BatchPoster {
  private readonly pool: Pool;
  private waiting: { resolve(id: string): void; reject(error: unknown): void }[] = [];

  constructor(
    url: string,
    private readonly headers: Readonly<Record<string, string>>,
    private readonly call: unknown,
  ) {
    this.pool = new Pool(url, { connections: 128 });
  }

  post(): Promise<string> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ resolve, reject });
      if (this.waiting.length === 1) queueMicrotask(() => this.send());
    });
  }

  close(): Promise<void> {
    return this.pool.destroy();
  }

  private send(): void {
    const all = this.waiting;
    this.waiting = [];
    for (let at = 0; at < all.length; at += CALLS) void this.submit(all.slice(at, at + CALLS));
  }

  private async submit(calls: BatchPoster['waiting']): Promise<void> {
    try {
      const body = JSON.stringify({ strategy: { type: 'parallel' }, calls: calls.map(() => this.call) });
      const response = await this.pool.request({
        path: '/v1/batches',
        method: 'POST',
        headers: { ...this.headers, prefer: 'wait=60' },
        body,
      });
      const text = await response.body.text();
      if (response.statusCode !== 200) throw new Error(`POST /v1/batches answered ${response.statusCode}: ${text.slice(0, 300)}`);
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the gateway's answer, of this release
      const { results } = JSON.parse(text) as Batch;
      for (const [n, { resolve, reject }] of calls.entries()) {
        const id = results[n]?.callId;
        if (id === undefined) reject(new Error('A call of a batch was not submitted.'));
        else resolve(id);
      }
    } catch (error) {
      for (const { reject } of calls) reject(error);
    }
  }
}
