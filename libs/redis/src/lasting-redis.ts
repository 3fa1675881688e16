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

  /**
   * `reconnect` while a connection is being made changes nothing: ioredis would take it for the owner's wish to end. Neither
   * does the end of what has ended: ioredis would wait 2 s for a socket to close that is closed.
   */
  override disconnect(reconnect = false): void {
    if (reconnect && this.status === 'connecting') return;
    if (!reconnect) this.left = true;
    if (this.status === 'end') return;
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
 * ioredis' failover detector belongs to a connection, but outlives it: until the next one stands, or for good when the
 * owner quits or disconnects before the connection stands. When it hears of a failover while the next one still asks the
 * Sentinels, it ends the client for good. Here it ends with its connection.
 */
class SteadySentinelConnector extends SentinelConnector {
  constructor(options: unknown) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- ioredis declares its connectors' options as unknown
    super(options as SentinelConnectionOptions);
  }

  override async connect(...args: Parameters<SentinelConnector['connect']>): ReturnType<SentinelConnector['connect']> {
    const stream = await super.connect(...args);
    stream.once('close', () => this.endDetector());
    return stream;
  }

  private endDetector(): void {
    // oxlint-disable-next-line typescript/no-unsafe-assignment -- ioredis declares it without a type
    const detector: { cleanup(): void } | null = this['failoverDetector'];
    detector?.cleanup();
    this['failoverDetector'] = null;
  }
}
