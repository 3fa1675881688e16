import type { Diagnostics, QueueStatus, RedisServerInfo, ToolDescriptor, WorkerStatus } from '#contracts';

/** Result of the doctor. `fix`: suggested action. */
export interface Check {
  readonly what: string;
  readonly verdict: 'ok' | 'warn' | 'fail';
  readonly found: string;
  readonly fix?: string;
}

const SKEW_WARN_MS = 2000;
const SKEW_FAIL_MS = 30_000;
const OLDEST_WAIT_WARN_MS = 60_000;
const WEAK_FIX = 'install a newer bubblewrap (0.5 or later) on a Linux kernel with seccomp filters';

export function checkVersion(ours: string, { version, node }: Pick<Diagnostics, 'version' | 'node'>): Check {
  const found = `gateway ${version} on Node ${node}, this program ${ours}`;
  if (version === ours) return { what: 'versions', verdict: 'ok', found };
  return { what: 'versions', verdict: 'warn', found, fix: 'bring this program and the gateway to the same version' };
}

/** Releases that run beside each other: an upgrade that was not finished, or one that is under way. */
export function checkProcesses({ protocol, processes }: Pick<Diagnostics, 'protocol' | 'processes'>): Check {
  const what = 'releases';
  const releases = new Map<string, string[]>();
  for (const process of processes) {
    const release = `version ${process.version}, protocol ${process.protocol}`;
    releases.set(release, [...(releases.get(release) ?? []), `${process.kind} ${process.id}`]);
  }
  const [only] = releases.keys();
  if (only !== undefined && releases.size === 1) return { what, verdict: 'ok', found: `${processes.length} processes of ${only}` };
  if (only === undefined) return { what, verdict: 'ok', found: `the gateway speaks protocol ${protocol}` };
  const found = [...releases].map(([release, names]) => `${release}: ${names.join(', ')}`).join('; ');
  return { what, verdict: 'warn', found, fix: 'finish the upgrade: deploy/README.md, "Upgrades"' };
}

/** Gateways and workers have the same limit of a tenant's calls: else one refuses what the other accepts. */
export function checkCallBytes({ processes }: Pick<Diagnostics, 'processes'>): Check[] {
  const what = 'TENANT_CALL_BYTES';
  const limits = new Map<number, string[]>();
  for (const { kind, id, tenantCallBytes: bytes } of processes)
    if (bytes !== undefined) limits.set(bytes, [...(limits.get(bytes) ?? []), `${kind} ${id}`]);
  if (limits.size <= 1) return [...limits.keys()].map((bytes) => ({ what, verdict: 'ok', found: `${bytes} in all gateways and workers` }));
  const found = [...limits].map(([bytes, names]) => `${bytes}: ${names.join(', ')}`).join('; ');
  return [{ what, verdict: 'warn', found, fix: 'set it alike for all gateways and workers' }];
}

/** `offsetMs`: how far a clock is ahead of ours. */
export function checkClock(what: string, offsetMs: number): Check {
  const size = Math.abs(offsetMs);
  const found = `${size < 1000 ? 'within a second of' : `${Math.round(size / 1000)} s ${offsetMs > 0 ? 'ahead of' : 'behind'}`} this machine's`;
  if (size < SKEW_WARN_MS) return { what, verdict: 'ok', found };
  return { what, verdict: size < SKEW_FAIL_MS ? 'warn' : 'fail', found, fix: 'run NTP (chrony, systemd-timesyncd) on both machines' };
}

/** The settings that the guarantees of the event log depend on. Without `durability` replicas are not checked. */
export function checkRedis(redis: RedisServerInfo, durability: Diagnostics['durability'] | undefined): Check[] {
  return [
    checkServer(redis),
    checkAppendOnly(redis),
    checkFsync(redis),
    checkDisk(redis),
    checkEviction(redis),
    checkMemory(redis),
    ...checkReplicas(redis, durability),
  ];
}

function checkServer({ server, version, mode, role, replicas }: RedisServerInfo): Check {
  const found = `${server} ${version}, ${mode}, ${role}${replicas === 0 ? '' : `, ${replicas} replicas`}`;
  if (Number(version.split('.')[0]) < 7) return { what: 'redis', verdict: 'fail', found, fix: 'install Redis 7 or newer, or Valkey' };
  if (role !== 'master') return { what: 'redis', verdict: 'fail', found, fix: 'point REDIS_URL to the master, or use redis+sentinel://' };
  return { what: 'redis', verdict: 'ok', found };
}

function checkAppendOnly({ appendOnly }: RedisServerInfo): Check {
  const what = 'redis appendonly';
  if (appendOnly) return { what, verdict: 'ok', found: 'yes' };
  const fix = 'redis-cli CONFIG SET appendonly yes, and the same in redis.conf';
  return { what, verdict: 'fail', found: 'no: a restart of Redis loses every call', fix };
}

function checkFsync({ appendFsync }: RedisServerInfo): Check {
  const what = 'redis appendfsync';
  if (appendFsync === 'always') return { what, verdict: 'ok', found: 'always' };
  if (appendFsync === undefined) return { what, verdict: 'warn', found: 'not shown by this Redis', fix: 'set it to always' };
  const found = `${appendFsync}: what was accepted in the last moments before a crash may be lost`;
  return { what, verdict: 'warn', found, fix: 'redis-cli CONFIG SET appendfsync always, and the same in redis.conf' };
}

function checkDisk({ lastWriteOk }: RedisServerInfo): Check {
  const what = 'redis disk';
  if (lastWriteOk) return { what, verdict: 'ok', found: 'the last write succeeded' };
  const fix = 'check for a full disk, and read the log of Redis';
  return { what, verdict: 'fail', found: 'the last write to the append-only file failed', fix };
}

function checkEviction({ maxmemoryPolicy }: RedisServerInfo): Check {
  const what = 'redis maxmemory-policy';
  if (maxmemoryPolicy === 'noeviction') return { what, verdict: 'ok', found: 'noeviction' };
  const fix = 'redis-cli CONFIG SET maxmemory-policy noeviction, and the same in redis.conf';
  return { what, verdict: 'fail', found: `${maxmemoryPolicy}: Redis may drop calls when memory is short`, fix };
}

function checkMemory({ maxmemoryBytes, usedMemoryBytes }: RedisServerInfo): Check {
  const what = 'redis memory';
  if (maxmemoryBytes === 0) return { what, verdict: 'ok', found: `${mebibytes(usedMemoryBytes)}, no limit set` };
  const used = usedMemoryBytes / maxmemoryBytes;
  const found = `${mebibytes(usedMemoryBytes)} of ${mebibytes(maxmemoryBytes)}`;
  const fix = 'raise maxmemory, lower HOT_WINDOW_MS, or see that a projector archives';
  if (used < 0.7) return { what, verdict: 'ok', found };
  if (used < 0.8) return { what, verdict: 'warn', found: `${found}: running calls write fewer updates`, fix };
  if (used < 0.9) return { what, verdict: 'warn', found: `${found}: new calls of low priority are refused`, fix };
  return { what, verdict: 'fail', found: `${found}: all new calls are refused`, fix };
}

function checkReplicas({ replicas, minReplicasToWrite }: RedisServerInfo, durability: Diagnostics['durability'] | undefined): Check[] {
  if (durability !== 'replicated') return [];
  const none: Check = {
    what: 'redis replicas',
    verdict: 'fail',
    found: 'none, but DURABILITY=replicated waits for one',
    fix: 'attach a replica, or set DURABILITY=local',
  };
  const apart: Check = {
    what: 'redis min-replicas-to-write',
    verdict: 'warn',
    found: '0: a master that its replicas left goes on writing what a failover drops',
    fix: 'set min-replicas-to-write to REPLICAS, or to 1 without it, on every node, also in redis.conf',
  };
  return [...(replicas > 0 ? [] : [none]), ...(minReplicasToWrite === 0 ? [apart] : [])];
}

/** Each pool that a tool needs has a worker, with a sandbox if it runs commands. */
export function checkPools(workers: readonly WorkerStatus[], queues: readonly QueueStatus[], tools: readonly ToolDescriptor[]): Check[] {
  const needed = [...new Set(tools.map(({ pool }) => pool))].sort();
  return needed.flatMap((pool) => {
    const serving = workers.filter((worker) => !worker.draining && worker.pools.some((slot) => slot.pool === pool && slot.slots > 0));
    const names = tools.filter((tool) => tool.pool === pool).map(({ name }) => name);
    const queue = queues.find((candidate) => candidate.pool === pool);
    return [checkPool(pool, serving, queue, names), ...checkSandbox(pool, serving)];
  });
}

function checkPool(
  pool: QueueStatus['pool'],
  serving: readonly WorkerStatus[],
  queue: QueueStatus | undefined,
  tools: readonly string[],
): Check {
  const what = `pool ${pool}`;
  if (serving.length === 0)
    return {
      what,
      verdict: 'fail',
      found: `no worker serves it: calls of ${tools.join(', ')} wait`,
      fix: `start a worker with WORKER_POOLS=${pool}`,
    };
  const slots = serving.flatMap((worker) => worker.pools).filter((slot) => slot.pool === pool);
  const sum = (of: (slot: (typeof slots)[number]) => number) => slots.reduce((total, slot) => total + of(slot), 0);
  const used = `${sum((slot) => slot.running)} of ${sum((slot) => slot.slots)} slots in use`;
  const found = `${serving.length} ${serving.length === 1 ? 'worker' : 'workers'}, ${used}${queue?.waiting ? `, ${queue.waiting} waiting` : ''}`;
  if (queue === undefined || queue.oldestWaitingMs <= OLDEST_WAIT_WARN_MS) return { what, verdict: 'ok', found };
  const oldest = `${found}, the oldest for ${Math.round(queue.oldestWaitingMs / 1000)} s`;
  return { what, verdict: 'warn', found: oldest, fix: 'start more workers, or raise WORKER_CONCURRENCY' };
}

function checkSandbox(pool: QueueStatus['pool'], serving: readonly WorkerStatus[]): Check[] {
  const states = serving.map((worker) => worker.sandbox?.[pool]).filter((state) => state !== undefined);
  const [bad] = states.filter(({ ok }) => !ok);
  const what = `sandbox ${pool}`;
  const fix = 'install bubblewrap on the workers and allow user namespaces, or choose with SANDBOX';
  if (bad) return [{ what, verdict: 'fail', found: `${bad.backend}: ${bad.reason ?? 'commands do not run'}`, fix }];
  const [open] = states.filter(({ isolation }) => isolation === 'none');
  if (open)
    return [{ what, verdict: 'warn', found: `commands run without isolation${open.reason === undefined ? '' : `: ${open.reason}`}`, fix }];
  const [weak] = states.filter(({ reason }) => reason !== undefined);
  if (weak) return [{ what, verdict: 'warn', found: `commands are isolated by ${weak.backend}, but ${weak.reason}`, fix: WEAK_FIX }];
  return states.length === 0 ? [] : [{ what, verdict: 'ok', found: `commands are isolated by ${states[0]?.backend ?? ''}` }];
}

/** Other requirements of workers: ripgrep, what some tools require, and free space on the disk of their workspaces. */
export function checkWorkers(workers: readonly WorkerStatus[]): Check[] {
  return [...checkSearch(workers), ...checkParts(workers), ...checkHosts(workers), ...workers.flatMap(checkRoom)];
}

function checkSearch(workers: readonly WorkerStatus[]): Check[] {
  const searching = workers.filter(
    ({ draining, pools, search }) => !draining && search !== undefined && pools.some(({ pool }) => pool === 'read'),
  );
  if (searching.length === 0) return [];
  const without = searching.filter(({ search }) => search?.ok === false).map(({ id }) => id);
  if (without.length === 0) return [{ what: 'search', verdict: 'ok', found: 'ripgrep is installed' }];
  return [
    {
      what: 'search',
      verdict: 'fail',
      found: `no ripgrep on ${without.join(', ')}: file_search and glob fail there`,
      fix: 'install the package ripgrep',
    },
  ];
}

/** A tool that no worker has the parts for is left out of the catalog: no fault, where it is not wanted. */
function checkParts(workers: readonly WorkerStatus[]): Check[] {
  const known = workers.flatMap(({ draining, parts }) => (draining || parts === undefined ? [] : [Object.entries(parts)]));
  const missing = new Map(known.flat().flatMap(([part, { ok, reason }]) => (ok ? [] : [[part, reason ?? 'not configured'] as const])));
  return [...missing].map(([part, reason]) => {
    const without = known.filter((list) => list.some(([name, { ok }]) => name === part && !ok)).length;
    return { what: part, verdict: 'ok', found: `not available on ${without} of ${known.length} workers: ${reason}` };
  });
}

/** Hosts over ssh, as each worker that is alive last saw them. A worker whose own config file lacks the host refuses its commands. */
function checkHosts(workers: readonly WorkerStatus[]): Check[] {
  const running = workers.filter(({ draining, pools }) => !draining && pools.some(({ pool }) => pool === 'shell'));
  const seen = workers.flatMap(({ id, draining, hosts = [] }) => (draining ? [] : hosts.map((host) => ({ id, ...host }))));
  return [...new Set(seen.map(({ name }) => name))].map((name) => {
    const what = `host ${name}`;
    const states = seen.filter((host) => host.name === name);
    const bad = states.find(({ ok }) => !ok);
    const { agents = [], sessions = [] } = states[0] ?? {};
    const whose = `commands of agents ${agents.join(', ')}, sessions ${sessions.join(', ')}`;
    const without = running.filter(({ hosts = [] }) => !hosts.some((host) => host.name === name)).map(({ id }) => id);
    if (without.length > 0)
      return {
        what,
        verdict: 'fail',
        found: `${without.join(', ')} does not know it, and refuses ${whose}`,
        fix: 'let TOOLYARD_CONFIG of each worker of the pool shell name the file with remoteHosts, and start the workers again',
      };
    if (bad === undefined) return { what, verdict: 'ok', found: `reached over ssh, for ${whose}` };
    const found = `worker ${bad.id} cannot use it for ${whose}: ${bad.reason ?? 'unknown'}`;
    return {
      what,
      verdict: 'fail',
      found,
      fix: 'correct it in remoteHosts of the file that TOOLYARD_CONFIG names, or start its ssh server',
    };
  });
}

const ROOM_WARN = { bytes: 2 * 1024 ** 3, share: 0.05 };
const ROOM_FAIL_BYTES = 200 * 1024 ** 2;

function checkRoom({ id, disk }: WorkerStatus): Check[] {
  if (disk === undefined) return [];
  const { freeBytes, totalBytes } = disk;
  const what = `disk ${id}`;
  const found = `${gibibytes(freeBytes)} of ${gibibytes(totalBytes)} free for workspaces`;
  if (freeBytes >= ROOM_WARN.bytes && freeBytes >= ROOM_WARN.share * totalBytes) return [{ what, verdict: 'ok', found }];
  return [
    { what, verdict: freeBytes < ROOM_FAIL_BYTES ? 'fail' : 'warn', found, fix: 'free disk space, or put WORKSPACE_ROOT on a larger disk' },
  ];
}

/** The file that TOOLYARD_CONFIG names. The warnings of the gateway contain the reason of a refusal. */
export function checkConfig(config: Diagnostics['config']): Check {
  const what = 'config file';
  if (config === undefined) return { what, verdict: 'ok', found: 'none: TOOLYARD_CONFIG is not set' };
  const { file, keys, agents, hooks } = config;
  if (keys === undefined) return { what, verdict: 'warn', found: `${file} is refused`, fix: 'correct the file that TOOLYARD_CONFIG names' };
  return { what, verdict: 'ok', found: `${file}: keys ${keys}, agents ${agents ?? 0}, hooks ${hooks ?? 0}` };
}

function gibibytes(bytes: number): string {
  return `${(bytes / 1024 ** 3).toFixed(1)} GiB`;
}

function mebibytes(bytes: number): string {
  return `${(bytes / 1_048_576).toFixed(1)} MiB`;
}
