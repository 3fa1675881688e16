import { describe, expect, it } from '@jest/globals';
import type { WatchItem, WatchOptions } from '../stream/watch.js';
import type { ToolyardClient } from '../toolyard-client.js';
import { events$ } from './rxjs.js';

const GAP = { kind: 'gap', gap: {} } as WatchItem;

/** Client whose watch yields `GAP` and then waits until it is aborted, or fails with `error`. */
function clientWith(error?: Error) {
  const signals: AbortSignal[] = [];
  async function* watch(_filter: unknown, { signal }: WatchOptions) {
    if (signal === undefined) throw new Error('expected a signal');
    signals.push(signal);
    yield GAP;
    if (error !== undefined) throw error;
    await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))));
  }
  return { signals, client: { watch } as unknown as Pick<ToolyardClient, 'watch'> };
}

describe('events$', () => {
  it('opens a watch for each subscription and ends it at once when it is unsubscribed', async () => {
    const { signals, client } = clientWith();
    const errors: unknown[] = [];
    const first = new Promise<WatchItem>((resolve) => {
      const subscription = events$(client).subscribe({
        next: (item) => {
          resolve(item);
          subscription.unsubscribe();
        },
        error: (error) => errors.push(error),
      });
    });
    expect(await first).toBe(GAP);
    expect([signals.map(({ aborted }) => aborted), errors]).toEqual([[true], []]);
  });

  it('passes on the error of a watch after the items before it', async () => {
    const { client } = clientWith(new Error('gone'));
    const seen: unknown[] = [];
    await new Promise<void>((resolve) => {
      events$(client).subscribe({ next: (item) => seen.push(item), error: (error: Error) => resolve(void seen.push(error.message)) });
    });
    expect(seen).toEqual([GAP, 'gone']);
  });
});
