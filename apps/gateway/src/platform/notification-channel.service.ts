import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { createRedis, keys, type RedisConnection } from '#redis';
import { GATEWAY_CONFIG, type GatewayConfig } from './gateway.config.js';

/** `surely`: it was said; otherwise it may have been published while there was no connection. */
type Listener = (surely: boolean) => void;

/**
 * Hears what happened to a batch that no event of its calls tells: it ended, was stopped, a person said yes; and that a
 * session was cancelled. Messages may be lost while the connection is away, so after every reconnect all listeners are sent to look.
 */
@Injectable()
export class NotificationChannel implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly listeners = new Map<string, Set<Listener>>();
  private subscriber: RedisConnection | undefined;

  constructor(@Inject(GATEWAY_CONFIG) private readonly config: GatewayConfig) {}

  async onApplicationBootstrap(): Promise<void> {
    const subscriber = createRedis(this.config.redisUrl, { role: 'subscriber', name: 'gateway-batches' });
    this.subscriber = subscriber;
    subscriber.on('message', (_channel: string, about: string) => this.notify(about, true));
    await subscriber.subscribe(keys.batchChannel());
    subscriber.on('ready', () => void this.resume(subscriber));
  }

  /** For readiness. */
  get connections(): readonly RedisConnection[] {
    return this.subscriber === undefined ? [] : [this.subscriber];
  }

  onApplicationShutdown(): void {
    this.subscriber?.disconnect();
    this.notifyAll();
  }

  /** Until the returned function is called. */
  subscribe(about: string, listener: Listener): () => void {
    const listening = this.listeners.get(about) ?? new Set();
    this.listeners.set(about, listening.add(listener));
    return () => {
      listening.delete(listener);
      if (listening.size === 0 && this.listeners.get(about) === listening) this.listeners.delete(about);
    };
  }

  private notify(about: string, surely: boolean): void {
    for (const listener of this.listeners.get(about) ?? []) listener(surely);
  }

  private notifyAll(): void {
    for (const about of this.listeners.keys()) this.notify(about, false);
  }

  /** First hear again, then look. */
  private async resume(subscriber: RedisConnection): Promise<void> {
    try {
      await subscriber.subscribe(keys.batchChannel());
    } catch {
      return; // The connection went away again; its next `ready` comes here.
    }
    this.notifyAll();
  }
}
