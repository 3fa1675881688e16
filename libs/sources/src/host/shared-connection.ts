import type { StoredSource } from '#contracts';
import type { Listing, SourceConnection, SourceConnector } from '../source-connector.port.js';
import { secretFiles, versionOf } from '../definitions/secret-files.js';
import { backoffMs } from './backoff.js';
import { failureText } from '../failure-text.js';

/** Starting a program or a TLS handshake may take this long. */
const OPEN_TIMEOUT_MS = 30_000;

export interface ConnectionEvents {
  /** The list of tools may have changed. */
  readonly onChange: () => void;
  /** The connection was lost; the next use opens another one. */
  readonly onLost: (reason: string) => void;
}

/** The one connection of a worker to a source: opened at the first use, opened again with back-off. */
export class SharedConnection {
  private current: Promise<SourceConnection> | undefined;
  private failures = 0;
  private notBefore = 0;
  private listNotBefore = 0;
  private lastFault = '';
  private readonly closing = new AbortController();
  private readonly files: readonly string[];
  /** Version of the secret files at the opening of the current connection. */
  private version = '';
  /** How many calls use a connection. */
  private readonly users = new Map<SourceConnection, number>();

  constructor(
    private readonly source: StoredSource,
    private readonly connector: SourceConnector,
    private readonly events: ConnectionEvents,
    private readonly random: () => number,
  ) {
    this.files = secretFiles(source.definition);
  }

  /** Milliseconds until `get` tries again; 0 when it does so now. */
  get waitMs(): number {
    return this.current === undefined ? Math.max(0, this.notBefore - performance.now()) : 0;
  }

  /** Milliseconds until the list may be read again. Calls do not wait for it. */
  get listWaitMs(): number {
    return Math.max(this.waitMs, this.listNotBefore - performance.now(), 0);
  }

  /** Rejects at once while it waits after a failure, with the reason of that failure. */
  get(): Promise<SourceConnection> {
    if (this.closing.signal.aborted) return Promise.reject(new Error('the source was removed'));
    this.replaceOnNewSecrets();
    if (this.current !== undefined) return this.current;
    if (this.waitMs > 0) return Promise.reject(new Error(this.lastFault));
    this.version = versionOf(this.files);
    const opening: Promise<SourceConnection> = this.open((connection, reason) => this.lost(opening, connection, reason));
    this.current = opening;
    opening.catch((error: unknown) => this.failed(opening, failureText(error)));
    return opening;
  }

  /** Runs a call. A connection whose secrets have changed is closed after the last of its calls. */
  async use<T>(run: (connection: SourceConnection) => Promise<T>): Promise<T> {
    const opening = this.get();
    const connection = await opening;
    this.users.set(connection, (this.users.get(connection) ?? 0) + 1);
    try {
      return await run(connection);
    } finally {
      const left = (this.users.get(connection) ?? 1) - 1;
      if (left > 0) this.users.set(connection, left);
      else {
        this.users.delete(connection);
        if (this.current !== opening) void connection.close();
      }
    }
  }

  /** Lets the next use try at once, since it may work now. */
  retry(): void {
    this.failures = 0;
    this.notBefore = 0;
    this.listNotBefore = 0;
  }

  /** Reads the list. After a failure the next use opens another connection: the server may have forgotten this one. */
  async list(timeoutMs: number): Promise<Listing> {
    const connection = await this.get();
    try {
      const listing = await connection.list(AbortSignal.timeout(timeoutMs));
      this.failures = 0;
      this.listNotBefore = 0;
      return listing;
    } catch (error) {
      if (await this.replace(connection)) {
        this.failures += 1;
        this.listNotBefore = performance.now() + backoffMs(this.failures, this.random);
      }
      throw error;
    }
  }

  async close(): Promise<void> {
    const { current } = this;
    this.closing.abort(new Error('the source was removed'));
    this.current = undefined;
    const open = await current?.catch(() => undefined);
    await open?.close();
  }

  private replaceOnNewSecrets(): void {
    const { current } = this;
    if (current === undefined || this.files.length === 0 || versionOf(this.files) === this.version) return;
    this.current = undefined;
    void current.then((connection) => this.closeIdle(connection)).catch(() => undefined);
  }

  /** The server may have been started again, with other tools. */
  private async expired(connection: SourceConnection): Promise<void> {
    await this.replace(connection);
    this.events.onChange();
  }

  /** False for a connection that was replaced before. */
  private async replace(connection: SourceConnection): Promise<boolean> {
    const { current } = this;
    if ((await current?.catch(() => undefined)) !== connection || this.current !== current) return false;
    this.current = undefined;
    await this.closeIdle(connection);
    return true;
  }

  private async closeIdle(connection: SourceConnection): Promise<void> {
    if (!this.users.has(connection)) await connection.close();
  }

  private async open(onLost: (connection: SourceConnection, reason: string) => void): Promise<SourceConnection> {
    const signal = AbortSignal.any([this.closing.signal, AbortSignal.timeout(OPEN_TIMEOUT_MS)]);
    const connection = await this.connector.open(this.source, signal);
    if (this.closing.signal.aborted) {
      await connection.close();
      throw new Error('the source was removed');
    }
    connection.onChange(() => this.events.onChange());
    connection.onClosed((reason) => onLost(connection, reason));
    connection.onExpired?.(() => void this.expired(connection));
    return connection;
  }

  /** A connection that was replaced meanwhile, even while it was opened, says nothing about the current one. */
  private lost(opening: Promise<SourceConnection>, connection: SourceConnection, reason: string): void {
    if (this.closing.signal.aborted || this.current !== opening) return;
    this.failed(opening, reason);
    void connection.close();
    this.events.onLost(reason);
  }

  private failed(which: Promise<SourceConnection>, reason: string): void {
    if (this.current !== which) return;
    this.current = undefined;
    this.failures += 1;
    this.lastFault = reason;
    this.notBefore = performance.now() + backoffMs(this.failures, this.random);
  }
}
