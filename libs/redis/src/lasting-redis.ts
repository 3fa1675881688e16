import { Redis, SentinelConnector, type Callback, type RedisOptions, type SentinelConnectionOptions } from 'ioredis';

/** How long an ended connection waits before it is replaced: no busy loop, whatever ended it. */
const REPLACED_AFTER_MS = 50;

/**
 * A client for one node or Sentinel that ends only when its owner ends it, by `disconnect()` or `quit()`. Any other end
 * is followed by a new connection, with the same subscriptions.
 */
export class LastingRedis extends Redis {
  private left = false;

  constructor(options: RedisOptions & { readonly replyMapping: 'legacy' }) {
    super(options.sentinels === undefined ? options : { ...options, Connector: SteadySentinelConnector });
    this.on('end', () => this.replace());
  }

  /** Whether its owner has closed it. */
  get isClosed(): boolean {
    return this.left;
  }

  /** `reconnect` while a connection is being made changes nothing: ioredis would take it for the owner's wish to end. */
  override disconnect(reconnect = false): void {
    if (reconnect && this.status === 'connecting') return;
    if (!reconnect) this.left = true;
    super.disconnect(reconnect);
  }

  override quit(callback?: Callback<'OK'>): Promise<'OK'> {
    this.left = true;
    return super.quit(callback);
  }

  private replace(): void {
    if (this.left) return;
    setTimeout(() => this.left || this.status !== 'end' || this.connect().catch(() => {}), REPLACED_AFTER_MS);
  }
}

/**
 * ioredis' failover detector belongs to a connection, but lives until the next one stands. When it hears of a failover
 * while that one still asks the Sentinels, it ends the client for good. Here it ends with its connection.
 */
class SteadySentinelConnector extends SentinelConnector {
  constructor(options: unknown) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- ioredis declares its connectors' options as unknown
    super(options as SentinelConnectionOptions);
  }

  override connect(...args: Parameters<SentinelConnector['connect']>): ReturnType<SentinelConnector['connect']> {
    // oxlint-disable-next-line typescript/no-unsafe-assignment -- ioredis declares it without a type
    const detector: { cleanup(): void } | null = this['failoverDetector'];
    detector?.cleanup();
    return super.connect(...args);
  }
}
