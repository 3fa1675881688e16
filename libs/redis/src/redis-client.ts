import { Cluster, type Callback, type Redis, type RedisOptions } from 'ioredis';
import { backoffMs } from '#timing';
import { LastingRedis } from './lasting-redis.js';

/** Client for one node, Sentinel or Cluster, with the same commands and scripts on each. */
export type RedisConnection = Redis | Cluster;

/**
 * - `command`: shared by many callers; commands wait for a reconnect, so callers set deadlines of their own.
 * - `blocking`: for one reader that blocks (XREAD); never share it.
 * - `subscriber`: in pub/sub mode; never send commands on it.
 * - `producer`: fails at once while Redis is unreachable.
 */
export type RedisRole = 'command' | 'blocking' | 'subscriber' | 'producer';

export interface RedisClientOptions {
  readonly role?: RedisRole;
  /** Name of the connection in this process, and in CLIENT LIST without `clientName`. */
  readonly name?: string;
  /** Name in CLIENT LIST instead of `name`. */
  readonly clientName?: string;
  /** Set if its commands may wait for replicas: later commands wait, too, and readiness sends it none. */
  readonly waits?: boolean;
  /** Called for every connection error. Default: dropped, since the client reconnects by itself. */
  readonly onError?: (error: Error) => void;
}

/** Parsed Redis URL. */
export type RedisTarget =
  | { readonly kind: 'single'; readonly options: RedisOptions }
  | { readonly kind: 'sentinel'; readonly options: RedisOptions }
  | { readonly kind: 'cluster'; readonly nodes: readonly { host: string; port: number }[]; readonly options: RedisOptions };

const EXPECTED =
  'redis://[user:password@]host:port[/db], rediss://…, unix:///path/to/socket, redis+sentinel://host:port,host:port/master-name, redis+cluster://host:port,host:port or rediss+cluster://…';

/**
 * Reads `redis://`, `rediss://`, `unix://`, `redis+sentinel://` (with the master's name as path, `mymaster` by default),
 * `redis+cluster://` and `rediss+cluster://`. Throws an Error with the expected forms and without the password.
 */
export function parseRedisUrl(url: string): RedisTarget {
  const match = /^(redis|rediss|unix|redis\+sentinel|rediss?\+cluster):\/\/(?:([^@/]*)@)?([^/?]*)(\/[^?]*)?$/.exec(url);
  if (!match) throw new Error(`REDIS_URL is not a Redis URL. Expected ${EXPECTED}.`);
  const [, scheme, userInfo, hosts = '', path = ''] = match;
  const options = credentials(userInfo);

  if (scheme === 'unix') {
    if (path === '') throw new Error(`REDIS_URL has no socket path. Expected ${EXPECTED}.`);
    return { kind: 'single', options: { ...options, path: decodeURIComponent(path) } };
  }
  const nodes = hosts.split(',').map(hostAndPort);
  if (scheme === 'redis+cluster') return { kind: 'cluster', nodes, options };
  if (scheme === 'rediss+cluster') return { kind: 'cluster', nodes, options: { ...options, tls: {} } };
  if (scheme === 'redis+sentinel')
    return { kind: 'sentinel', options: { ...options, sentinels: nodes, name: path.slice(1) || 'mymaster' } };

  const [node] = nodes;
  if (!node || nodes.length > 1)
    throw new Error(`REDIS_URL names ${nodes.length} hosts, but ${scheme}:// takes one. Expected ${EXPECTED}.`);
  const db = path.length > 1 ? Number(path.slice(1)) : 0;
  if (!Number.isInteger(db) || db < 0)
    throw new Error(`REDIS_URL has no valid database number after the last slash. Expected ${EXPECTED}.`);
  return { kind: 'single', options: { ...options, ...node, db, ...(scheme === 'rediss' ? { tls: {} } : {}) } };
}

export function isCluster(url: string): boolean {
  return parseRedisUrl(url).kind === 'cluster';
}

/** ioredis options for a role; BullMQ gets the same, so that every connection of a process behaves alike. */
export function redisOptionsFor(
  target: RedisTarget,
  { role = 'command', name, clientName = name }: RedisClientOptions = {},
): RedisOptions & { readonly replyMapping: 'legacy' } {
  return {
    ...target.options,
    replyMapping: 'legacy',
    ...(clientName === undefined ? {} : { connectionName: clientName }),
    maxRetriesPerRequest: role === 'producer' ? 1 : null,
    enableOfflineQueue: role !== 'producer',
    retryStrategy: (attempt) => backoffMs(attempt, { firstMs: 100, maxMs: 1_000 }),
    reconnectOnError: isDemotedPrimaryError,
    // Sentinel lets an old master run for ten seconds after a planned failover: its writes in this time are lost.
    failoverDetector: true,
    connectTimeout: 5000,
    keepAlive: 10_000,
  };
}

/** Time for a connection to become ready for the first time. */
const OPENING_MS = 5_000;

interface OpenConnection {
  readonly url: string;
  readonly openedAt: number;
  wasReady: boolean;
}

const optionsOf = new WeakMap<RedisConnection, RedisClientOptions>();
const opened = new Map<RedisConnection, OpenConnection>();

/** Opens a connection that reconnects until its owner closes it with `quit()` or `disconnect()`. Readiness checks it until then. */
export function createRedis(url: string, options: RedisClientOptions = {}): RedisConnection {
  const target = parseRedisUrl(url);
  const client = target.kind === 'cluster' ? createCluster(target, options) : new LastingRedis(redisOptionsFor(target, options));
  // ioredis throws on an error event without a listener.
  client.on('error', options.onError ?? (() => {}));
  optionsOf.set(client, options);
  const entry: OpenConnection = { url, openedAt: performance.now(), wasReady: false };
  opened.set(client, entry);
  client.once('ready', () => (entry.wasReady = true));
  return client;
}

/** Connections of this process to a server that their owners need now: not closed, nor opened a moment ago. */
export function openConnections(url: string): readonly RedisConnection[] {
  const now = performance.now();
  // Without an event if its owner closed it while it was about to be replaced.
  for (const client of opened.keys()) if (isClosed(client)) opened.delete(client);
  const isNeeded = (entry: OpenConnection) => entry.url === url && (entry.wasReady || now - entry.openedAt > OPENING_MS);
  return [...opened].filter(([, entry]) => isNeeded(entry)).map(([client]) => client);
}

/** True after its owner has closed the connection; any other end is followed by a new connection. */
export function isClosed(redis: RedisConnection): boolean {
  return redis instanceof LastingRedis || redis instanceof OwnedCluster ? redis.isClosed : redis.status === 'end';
}

/** Name that the connection was opened with. */
export function connectionName(redis: RedisConnection): string {
  return optionsOf.get(redis)?.name ?? 'unnamed';
}

/** True if the connection answers commands at once: not if it blocks or is in pub/sub mode. */
export function acceptsCommands(redis: RedisConnection): boolean {
  const { role = 'command', waits = false } = optionsOf.get(redis) ?? {};
  return !waits && (role === 'command' || role === 'producer');
}

/** Resolves when the connection is ready: a `producer` fails every command before that. Waits for Redis without limit. */
export async function waitUntilConnected(redis: RedisConnection): Promise<void> {
  if (redis.status !== 'ready') await new Promise<void>((resolve) => redis.once('ready', () => resolve()));
}

/** Error of a node that is no longer a master. Its address, or Sentinel, may lead to the successor. */
function isDemotedPrimaryError({ message }: Error): boolean {
  return message.startsWith('READONLY') || message.startsWith('UNBLOCKED');
}

/** Cluster client that knows whether its owner has closed it, also while nodes hang, when it does not end. */
class OwnedCluster extends Cluster {
  isClosed = false;

  override disconnect(reconnect = false): void {
    if (!reconnect) this.isClosed = true;
    super.disconnect(reconnect);
  }

  override quit(callback?: Callback<'OK'>): Promise<'OK'> {
    this.isClosed = true;
    return super.quit(callback);
  }
}

/** Makes a cluster client whose commands wait during a failover instead of failing. */
function createCluster(target: Extract<RedisTarget, { kind: 'cluster' }>, options: RedisClientOptions): Cluster {
  return new OwnedCluster([...target.nodes], {
    redisOptions: { ...redisOptionsFor(target, options), ...silenceLimit(options) },
    // Certificates are of names, which ioredis would replace by addresses.
    ...(target.options.tls === undefined ? {} : { dnsLookup: (name, found) => found(null, name) }),
    // The check would wait for any node without a limit. Commands to a cluster that is down are retried.
    enableReadyCheck: false,
    enableOfflineQueue: options.role !== 'producer',
    maxRedirections: 64,
    retryDelayOnFailover: 300,
    retryDelayOnClusterDown: 300,
    clusterRetryStrategy: (attempt) => Math.min(100 * attempt, 1000),
  });
}

/**
 * Time-out for a silent node: a dead machine closes no connection, and commands would wait as long as TCP retries. A reader
 * blocks for 10 s at most. A subscriber sends no commands.
 */
function silenceLimit({ role = 'command' }: RedisClientOptions): Pick<RedisOptions, 'socketTimeout'> {
  switch (role) {
    case 'command':
    case 'producer':
      return { socketTimeout: 5_000 };
    case 'blocking':
      return { socketTimeout: 12_000 };
    case 'subscriber':
      return {};
    default:
      return role satisfies never;
  }
}

function credentials(userInfo: string | undefined): RedisOptions {
  if (!userInfo) return {};
  const [username = '', ...password] = userInfo.split(':');
  return {
    ...(username === '' ? {} : { username: decodeURIComponent(username) }),
    ...(password.length === 0 ? {} : { password: decodeURIComponent(password.join(':')) }),
  };
}

function hostAndPort(text: string): { host: string; port: number } {
  const match = /^(\[[0-9a-fA-F:]+\]|[^:[\]]+)(?::(\d{1,5}))?$/.exec(text);
  if (!match?.[1]) throw new Error(`REDIS_URL has "${text}" where a host:port belongs. Expected ${EXPECTED}.`);
  return { host: match[1].replace(/^\[|\]$/g, ''), port: Number(match[2] ?? 6379) };
}
