import { Redis, SentinelConnector, SentinelIterator, type Callback, type RedisOptions, type SentinelConnectionOptions } from 'ioredis';
import { askSentinels } from './sentinels.js';

/** Delay before an ended connection is replaced, which prevents a busy loop. */
const REPLACED_AFTER_MS = 50;

/**
 * Client for one node or Sentinel that only its owner ends, by `disconnect()` or `quit()`. Any other end is followed by a new
 * connection, with the same subscriptions.
 */
export class LastingRedis extends Redis {
  private closedByOwner = false;

  constructor(options: RedisOptions & { readonly replyMapping: 'legacy' }) {
    super(options.sentinels === undefined ? options : { ...options, Connector: SteadySentinelConnector });
    this.on('end', () => this.replace());
  }

  /** True after its owner has closed it. */
  get isClosed(): boolean {
    return this.closedByOwner;
  }

  /**
   * Ignores `reconnect` while connecting, which ioredis would treat as the end by the owner, and the end of an ended client,
   * for which ioredis would wait 2 s on a closed socket.
   */
  override disconnect(reconnect = false): void {
    if (reconnect && this.status === 'connecting') return;
    if (!reconnect) this.closedByOwner = true;
    if (this.status === 'end') return;
    super.disconnect(reconnect);
  }

  override quit(callback?: Callback<'OK'>): Promise<'OK'> {
    this.closedByOwner = true;
    return super.quit(callback);
  }

  private replace(): void {
    if (this.closedByOwner) return;
    setTimeout(() => this.closedByOwner || this.status !== 'end' || this.connect().catch(() => {}), REPLACED_AFTER_MS);
  }
}

/**
 * Connector that takes the master of the newest failover, whichever Sentinel knows it: one that restarted or was cut off names the
 * master before, which may take writes again. ioredis itself takes the master of the first that answers.
 *
 * Ends ioredis' failover detector with its connection. In ioredis the detector lives until the next connection
 * is made, or for ever if the owner ends the client before that. A failover reported while the next connection still asks the
 * Sentinels would end the client for good.
 */
class SteadySentinelConnector extends SentinelConnector {
  constructor(options: unknown) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- ioredis declares its connectors' options as unknown
    super(options as SentinelConnectionOptions);
  }

  override async connect(...args: Parameters<SentinelConnector['connect']>): ReturnType<SentinelConnector['connect']> {
    this.connecting = true;
    const { sentinels = [], name = '' } = this.options;
    // ioredis adds those that Sentinels name, which are asked when no other one answers.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- ioredis declares the field as private
    const discovered = Reflect.get(this.sentinelIterator, 'sentinels') as typeof sentinels;
    const newestFirst = (await askSentinels({ sentinels, name })).map(({ sentinel }) => sentinel);
    if (!this.connecting) throw new Error('Connection is closed.');
    this.sentinelIterator = new SentinelIterator([...new Set([...newestFirst, ...sentinels, ...discovered])]);
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
