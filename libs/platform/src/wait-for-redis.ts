import { ensureLogMetadata } from '#event-log';
import { createRedis, getServerInfo, keys, type RedisConnection } from '#redis';
import { pingRedis } from './ping-redis.js';
import { connectionHint } from './connection-hint.js';
import { startSteps } from './start-step.js';
import { checkCompatibility, describeProcess } from './protocol/running-processes.js';
import { StartupError } from './startup-error.js';

/** Time after which a line on standard error names the awaited step. */
const NOTICE_MS = 2_000;
const OLDEST_MAJOR = 7;

export interface RedisWait {
  /** Kind of the starting process, for messages and CLIENT LIST. */
  readonly what: 'gateway' | 'worker' | 'projector';
  /** Id of the process among those of its kind. */
  readonly id: string;
  readonly redisUrl: string;
  readonly partitions: number;
  /** Archive of calls and events that have left Redis. */
  readonly archiveUrl?: string | undefined;
  readonly startTimeoutMs: number;
}

/**
 * Resolves when Redis answers, its log has the format of this process, and no incompatible process runs. Later outages do not
 * end the process.
 * @throws StartupError if Redis does not answer in time, refuses this process, is too old, contains another log or data of a
 * newer release, serves an incompatible process, or was trimmed into an archive that this process lacks
 */
export async function waitForRedis({ what, id, redisUrl, partitions, archiveUrl, startTimeoutMs: timeoutMs }: RedisWait): Promise<void> {
  let last = 'no answer';
  const since = performance.now();
  const redis = createRedis(redisUrl, { name: `${what}-start`, onError: (error) => (last = reasonOf(error)) });
  const silence = setTimeout(() => {
    process.stderr.write(`Redis does not answer yet (${last}); waiting for it up to ${timeoutMs / 1000} s.\n`);
  }, NOTICE_MS);
  const step = startSteps(what, timeoutMs);
  try {
    if (!(await pingRedis(redis, timeoutMs))) {
      const waited = performance.now() - since < timeoutMs / 2 ? 'refused this process' : `did not answer within ${timeoutMs / 1000} s`;
      throw new StartupError(`Redis ${waited} (${last}). ${connectionHint(last)}`);
    }
    clearTimeout(silence);
    await step('read its version', () => checkVersion(redis));
    // Compares before any write, so that a rejected process leaves no trace.
    await step('compare releases', () => checkCompatibility(redis, describeProcess(what, id)));
    await step('check the log', () => checkLog(redis, partitions));
    if (archiveUrl === undefined) await step('look for an archive', () => checkArchive(redis));
  } finally {
    clearTimeout(silence);
    redis.disconnect();
  }
}

/** Checks the version; accepts a server that does not report one. */
async function checkVersion(redis: RedisConnection): Promise<void> {
  const facts = await getServerInfo(redis).catch(() => undefined);
  const major = Number(facts?.version.split('.')[0]);
  if (facts?.server === 'redis' && major < OLDEST_MAJOR) {
    throw new StartupError(
      `This Redis has version ${facts.version}, and Toolyard needs ${OLDEST_MAJOR} or newer (or Valkey). Install one, or name another in REDIS_URL.`,
    );
  }
}

async function checkLog(redis: RedisConnection, partitions: number): Promise<void> {
  await ensureLogMetadata(redis, partitions).catch((error: unknown) => {
    const message = error instanceof Error ? error.message : String(error);
    throw new StartupError(isRefusal(error) ? `Redis refused a write (${message}). ${connectionHint(message)}` : message);
  });
}

async function checkArchive(redis: RedisConnection): Promise<void> {
  const label = await redis.get(keys.archive());
  if (label !== null) throw new StartupError(`Calls of this installation have left Redis for the archive ${label}. Set ARCHIVE_URL to it.`);
}

function isRefusal(error: unknown): boolean {
  return error instanceof Error && error.name === 'ReplyError';
}

/** Reason of an error; that of a cluster's client is in `lastNodeError`. */
function reasonOf(error: Error): string {
  return 'lastNodeError' in error && error.lastNodeError instanceof Error ? error.lastNodeError.message : error.message;
}
