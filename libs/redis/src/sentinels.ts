import { Redis, type SentinelAddress } from 'ioredis';

/** Longest wait for one Sentinel. Those that do not answer count as unreachable. */
const ANSWER_MS = 500;

/** The master as one Sentinel knows it. */
export interface MasterView {
  readonly sentinel: Partial<SentinelAddress>;
  /** Number of the failover that made it the master. Views of older failovers are out of date. */
  readonly epoch: number;
  /** Replicas that the Sentinel knows, with those that are down. */
  readonly replicas: number;
}

export interface Sentinels {
  readonly sentinels: readonly Partial<SentinelAddress>[];
  /** Name of the master. */
  readonly name: string;
}

/** Views of the Sentinels that answer, newest failover first. Empty if none answers. */
export async function askSentinels({ sentinels, name }: Sentinels): Promise<MasterView[]> {
  const answers = await Promise.allSettled(sentinels.map((sentinel) => askSentinel(sentinel, name)));
  return answers.flatMap((it) => (it.status === 'fulfilled' ? [it.value] : [])).sort((a, b) => b.epoch - a.epoch);
}

async function askSentinel(sentinel: Partial<SentinelAddress>, name: string): Promise<MasterView> {
  const client = new Redis({
    host: sentinel.host ?? '127.0.0.1',
    port: sentinel.port ?? 26_379,
    replyMapping: 'legacy',
    retryStrategy: () => null,
    enableReadyCheck: false,
    connectTimeout: ANSWER_MS,
    commandTimeout: ANSWER_MS,
  });
  // Rejects the command as well.
  client.on('error', () => {});
  try {
    const reply = await client.call('SENTINEL', 'MASTER', name);
    const fields = Array.isArray(reply) ? reply.map(String) : [];
    const numberOf = (field: string) => Number(fields[fields.indexOf(field) + 1]) || 0;
    return { sentinel, epoch: numberOf('config-epoch'), replicas: numberOf('num-slaves') };
  } finally {
    client.disconnect();
  }
}
