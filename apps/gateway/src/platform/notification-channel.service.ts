import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { createRedis, keys, listenToChannels, type RedisConnection } from '#redis';
import { GATEWAY_CONFIG, type GatewayConfig } from './gateway.config.js';

/** `confirmed`: true for a received message; false if one may have been lost. */
type Listener = (confirmed: boolean) => void;

/**
 * Messages between gateways about changes that no event of a call shows: the end, stop or approval of a batch, the cancel of a
 * session, changes of keys or logins. Messages may be lost while disconnected, so after a reconnect every listener checks
 * again.
 */
@Injectable()
export class NotificationChannel implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly listeners = new Map<string, Set<Listener>>();
  private subscriber: RedisConnection | undefined;

  constructor(@Inject(GATEWAY_CONFIG) private readonly config: GatewayConfig) {}

  async onApplicationBootstrap(): Promise<void> {
    const subscriber = createRedis(this.config.redisUrl, { role: 'subscriber', name: 'gateway-batches' });
    this.subscriber = subscriber;
    await listenToChannels(subscriber, new Set([keys.batchChannel()]), {
      onMessage: (topic) => this.notify(topic, true),
      recheck: () => this.notifyAll(),
    });
  }

  onApplicationShutdown(): void {
    this.subscriber?.disconnect();
    this.notifyAll();
  }

  /** Calls `listener` until the returned function is called. */
  subscribe(topic: string, listener: Listener): () => void {
    const listening = this.listeners.get(topic) ?? new Set();
    this.listeners.set(topic, listening.add(listener));
    return () => {
      listening.delete(listener);
      if (listening.size === 0 && this.listeners.get(topic) === listening) this.listeners.delete(topic);
    };
  }

  private notify(topic: string, confirmed: boolean): void {
    for (const listener of this.listeners.get(topic) ?? []) listener(confirmed);
  }

  private notifyAll(): void {
    for (const topic of this.listeners.keys()) this.notify(topic, false);
  }
}
