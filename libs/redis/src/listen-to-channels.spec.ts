import { describe, expect, it } from '@jest/globals';
import { listenToChannels } from './listen-to-channels.js';
import { createRedis } from './redis-client.js';

describe('listenToChannels', () => {
  it('receives only messages of its channels, and after a reconnect checks once and continues', async () => {
    const [subscriber, publisher] = [
      createRedis(process.env.TEST_REDIS_URL ?? '', { role: 'subscriber' }),
      createRedis(process.env.TEST_REDIS_URL ?? ''),
    ];
    const received: string[] = [];
    let [heard, rechecked] = [() => {}, () => {}];
    const channels = new Set(['listen-a', 'listen-b']);
    await listenToChannels(subscriber, channels, {
      onMessage: (text, channel) => {
        received.push(`${channel} ${text}`);
        if (text === 'last') heard();
      },
      recheck: () => rechecked(),
    });
    await subscriber.subscribe('listen-other');
    const all = new Promise<void>((resolve) => (heard = resolve));
    for (const [channel, text] of [
      ['listen-a', '1'],
      ['listen-other', '2'],
      ['listen-b', 'last'],
    ] as const)
      await publisher.publish(channel, text);
    await all;
    expect(received).toEqual(['listen-a 1', 'listen-b last']);

    channels.add('listen-c');
    const again = new Promise<void>((resolve) => (rechecked = resolve));
    subscriber.disconnect(true);
    await again;
    const further = new Promise<void>((resolve) => (heard = resolve));
    await publisher.publish('listen-c', 'last');
    await further;
    expect(received.at(-1)).toBe('listen-c last');
    subscriber.disconnect();
    publisher.disconnect();
  });
});
