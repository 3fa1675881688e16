import { CallStore, EventLog, type CallSnapshot } from '#event-log';
import { keys, partitionNames, type RedisConnection } from '#redis';
import { eventually } from '../eventually.js';

const AUTHOR = { source: '/gateway/test', actor: 'apikey:test' };
/** How long what runs may take to stop. */
const GRACE_MS = 1_000;

/**
 * Cancels the calls that a test has left open, and resolves when every call has its End. Rejects with their names when
 * some get none. `needWorker` is called when some run: only a worker or a reconciler ends those. With a tenant, only its calls count.
 */
export async function comeToRest(
  redis: RedisConnection,
  partitions: number,
  needWorker: () => Promise<void>,
  tenantId?: string,
): Promise<void> {
  const log = new EventLog(redis, { partitions });
  const store = new CallStore(redis);
  const open = async () => {
    const names = partitionNames(partitions).map((partition) => keys.outbox(partition));
    const ids = (await Promise.all(names.map((name) => redis.zrange(name, '0', '-1')))).flat();
    return (await Promise.all(ids.map((id) => store.snapshot(id)))).filter((head): head is NonNullable<typeof head> => head !== undefined);
  };
  let left: CallSnapshot[] = [];
  try {
    await eventually(async () => {
      left = (await open()).filter(({ status, meta }) => status !== 'ended' && (tenantId === undefined || meta.tenantId === tenantId));
      if (left.some(({ status }) => status === 'running')) await needWorker();
      await Promise.all(left.map((head) => cancel(log, head)));
      return left.length === 0;
    }, 'every call to end').catch((error: unknown) => {
      const names = left.map(({ callId, status, meta }) => `${callId} (${meta.tool}, ${status})`);
      throw new Error(`I2 these calls got no End although they were cancelled: ${names.join(', ')}`, { cause: error });
    });
  } finally {
    await log.close();
  }
}

/** Cancels a call. A rejected one has changed meanwhile, and is checked again. */
async function cancel(log: EventLog, { callId, status, version, attempt, cancelRequested }: CallSnapshot): Promise<void> {
  const guard = { by: 'command', version, commandId: `rest-${callId}-${version}` } as const;
  if (cancelRequested) return;
  if (status === 'running')
    await log.requestCancel({ callId, guard, data: { reason: 'the tests are over', graceMs: GRACE_MS }, author: AUTHOR });
  else
    await log.end({
      callId,
      guard,
      data: { outcome: 'cancelled', error: { code: 'cancelled', message: 'Cancelled', retryable: false }, attempts: attempt },
      author: AUTHOR,
    });
}
