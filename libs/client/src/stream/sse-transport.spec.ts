import { EventEmitter, once } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import type { HttpTransport } from '../http/http-transport.js';
import { SseTransport } from './sse-transport.js';
import type { StreamReader } from './stream-transport.js';

const reader = (): StreamReader => ({ filter: {}, cursor: undefined, take: () => {}, onStateChange: () => {}, fail: () => {} });

describe('SseTransport', () => {
  it.each(['remove', 'close'] as const)('cancels a stream on %s even if it ignores the abort of its request', async (how) => {
    const steps = new EventEmitter();
    const [opened, cancelled] = [once(steps, 'pull'), once(steps, 'cancel')];
    const source = { pull: () => void steps.emit('pull'), cancel: () => void steps.emit('cancel') };
    const body = new ReadableStream<Uint8Array>(source, { highWaterMark: 0 });
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the one method that is called
    const transport = new SseTransport({ stream: async () => body } as unknown as HttpTransport, 0);
    const one = reader();
    transport.add(one);
    await opened;
    if (how === 'remove') transport.remove(one);
    else transport.close();
    expect(await cancelled).toEqual([]);
  });
});
