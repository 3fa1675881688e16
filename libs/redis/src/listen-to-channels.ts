import type { RedisConnection } from './redis-client.js';

export interface ChannelListener {
  readonly onMessage: (text: string, channel: string) => void;
  /** Called after each reconnect, after the channels are subscribed again: messages may have been lost. */
  readonly recheck?: () => void;
}

/**
 * Subscribes to the channels, and after each reconnect to the then present `channels`. Resolves when the first subscription is
 * active. Ignores other messages of the connection.
 */
export async function listenToChannels(
  subscriber: RedisConnection,
  channels: ReadonlySet<string>,
  { onMessage, recheck = () => {} }: ChannelListener,
): Promise<void> {
  subscriber.on('message', (channel: string, text: string) => {
    if (channels.has(channel)) onMessage(text, channel);
  });
  await subscriber.subscribe(...channels);
  // A connection lost during the subscription retries at its next `ready`.
  subscriber.on(
    'ready',
    () =>
      void subscriber
        .subscribe(...channels)
        .then(recheck)
        .catch(() => {}),
  );
}
