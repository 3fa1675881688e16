import type { RedisConnection } from './redis-client.js';

export interface ChannelListener {
  readonly onMessage: (text: string, channel: string) => void;
  /** Called after each reconnect, once the channels are subscribed again: messages were lost meanwhile. */
  readonly recheck?: () => void;
}

/**
 * Subscribes to the channels, and again after each reconnect, when `channels` may have changed. Resolves when the first subscription
 * is active. Other messages of the connection are ignored.
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
  // A connection that is lost meanwhile comes here again at its next `ready`.
  subscriber.on(
    'ready',
    () =>
      void subscriber
        .subscribe(...channels)
        .then(recheck)
        .catch(() => {}),
  );
}
