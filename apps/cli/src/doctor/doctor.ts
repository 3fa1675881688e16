import { setTimeout as pause } from 'node:timers/promises';
import { ToolyardError } from '#client';
import type { GatewayWarning } from '#contracts';
import type { CommandContext } from '../command-context.js';
import { EXIT } from '../exit-code.js';
import { oneLine } from '../terminal/safe-text.js';
import {
  checkCallBytes,
  checkClock,
  checkConfig,
  checkPools,
  checkProcesses,
  checkRedis,
  checkVersion,
  checkWorkers,
  type Check,
} from './check.js';
import { checkSources } from './check-sources.js';

const DEADLINE_MS = 5000;
const WARNINGS: Readonly<Record<GatewayWarning['code'], Pick<Check, 'what' | 'fix'>>> = {
  config_refused: { what: 'gateway config', fix: 'correct the file that TOOLYARD_CONFIG names' },
  few_replicas: { what: 'gateway replicas', fix: 'see Durability in deploy/README.md' },
  redis_memory: { what: 'gateway memory', fix: 'see Memory of Redis in deploy/README.md' },
};
const MARKS = { ok: 'green', warn: 'yellow', fail: 'red' } as const;

/**
 * Checks gateway, key, live stream, versions, releases of all processes, config file, clocks, Redis, workers, sandboxes, search, disks and sources. With REDIS_URL
 * it also reads from that Redis directly, even if no gateway answers. Prints faults first and what is fine in one line, unless
 * `all` is set. Exits with 1 if a check fails.
 */
export async function doctor(context: CommandContext, env: NodeJS.ProcessEnv, { all = false }: DoctorFlags = {}): Promise<number> {
  const { terminal, json } = context;
  const checks: Check[] = [];
  for await (const check of checkGateway(context)) checks.push(check);
  if (env['REDIS_URL']) checks.push(...(await checkRedisDirectly(env['REDIS_URL'])));
  if (json) for (const check of checks) terminal.json(check);
  else for (const line of report(checks, terminal, all)) terminal.line(line);
  return checks.some(({ verdict }) => verdict === 'fail') ? EXIT.failed : EXIT.completed;
}

export interface DoctorFlags {
  /** Each check has a line. */
  readonly all?: boolean;
}

/** Faults, then warnings, then the origin of gateway and key, and the number of other checks. */
function report(checks: readonly Check[], terminal: CommandContext['terminal'], all: boolean): string[] {
  const of = (wanted: Check['verdict']) => checks.filter(({ verdict }) => verdict === wanted);
  const fine = of('ok');
  const shown = all ? fine : fine.filter(({ what }) => what === 'gateway' || what === 'key');
  const lines = [...of('fail'), ...of('warn'), ...shown].map((check) => lineOf(check, terminal));
  const rest = fine.filter((check) => !shown.includes(check));
  if (rest.length === 0) return lines;
  const names = [...new Set(rest.map(({ what }) => what.split(' ', 1)[0]))].join(', ');
  return [...lines, `${terminal.colour('green', 'ok  ')} ${rest.length} other checks: ${oneLine(names, 300)} (--all lists them)`];
}

async function* checkGateway(context: CommandContext): AsyncGenerator<Check, void, undefined> {
  const { client, config } = context;
  const options = { timeoutMs: DEADLINE_MS };
  const where = `is it running, and is ${config.url} its address? That is from ${config.urlFrom}; --url or TOOLYARD_URL name another`;
  const gateway = await attempt('gateway', where, () => client.gateway.ready(options));
  yield gateway.failure ?? { what: 'gateway', verdict: 'ok', found: `ready at ${config.url} (from ${config.urlFrom})` };
  if (gateway.value === undefined) return;
  for (const { code, message } of gateway.value.warnings ?? []) yield { ...WARNINGS[code], verdict: 'warn', found: message };

  const tools = await attempt('key', `give another key: this one is from ${config.keyFrom}`, () => client.tools.list({}, options));
  yield tools.failure ?? { what: 'key', verdict: 'ok', found: `from ${config.keyFrom}; sees ${tools.value?.length ?? 0} tools` };
  if (tools.value === undefined) return;

  yield await checkStream(context);
  yield* await checkInside(context);
  const inLog = 'read the log of the gateway';
  const state = await attempt('workers', inLog, () => Promise.all([client.workers.list(options), client.queues.list(options)]));
  if (state.failure) yield state.failure;
  if (state.value === undefined) return;
  yield* checkPools(...state.value, tools.value);
  yield* checkWorkers(state.value[0]);
  const sources = await attempt('sources', 'use a key with the scope admin', () => client.sources.list(options));
  if (sources.failure) yield { ...sources.failure, verdict: 'warn' };
  yield* checkSources(sources.value ?? []);
}

/** Facts that need a key with the scope `operate`. */
async function checkInside({ client, version }: CommandContext): Promise<Check[]> {
  const before = Date.now();
  const seen = await attempt('redis', 'use a key with the scope operate, or give REDIS_URL', () =>
    client.gateway.diagnostics({ timeoutMs: DEADLINE_MS }),
  );
  if (seen.value === undefined) return seen.failure ? [{ ...seen.failure, verdict: 'warn' }] : [];
  const middle = (before + Date.now()) / 2;
  const { time, redis, durability, config } = seen.value;
  return [
    checkVersion(version, seen.value),
    checkProcesses(seen.value),
    ...checkCallBytes(seen.value),
    checkConfig(config),
    checkClock('clock of the gateway', Date.parse(time) - middle),
    checkClock('clock of redis', Date.parse(redis.time) - middle),
    ...checkRedis(redis, durability),
  ];
}

async function checkStream({ client }: CommandContext): Promise<Check> {
  let goLive = () => {};
  const live = new Promise<'live'>((resolve) => (goLive = () => resolve('live')));
  const watch = client.watch({}, { onState: ({ state }) => state === 'live' && goLive() });
  const done = new AbortController();
  try {
    const some = watch.next().then(() => 'live' as const);
    const came = await Promise.race([live, some, pause(DEADLINE_MS, 'late' as const, { signal: done.signal })]);
    if (came === 'live') return { what: 'live events', verdict: 'ok', found: 'the stream is open' };
    return {
      what: 'live events',
      verdict: 'fail',
      found: 'no stream within 5 s',
      fix: 'let proxies pass WebSocket upgrades of /v1/stream',
    };
  } catch (error) {
    return { what: 'live events', verdict: 'fail', found: messageOf(error), fix: 'use a key with the scope read' };
  } finally {
    done.abort();
    watch.close();
  }
}

/** `#redis` is imported here, since no other command needs it. */
async function checkRedisDirectly(url: string): Promise<Check[]> {
  const { createRedis, getServerInfo } = await import('#redis');
  const done = new AbortController();
  const late = pause(DEADLINE_MS, undefined, { signal: done.signal }).then(() => Promise.reject(new Error('it did not answer within 5 s')));
  late.catch(() => {});
  let redis: ReturnType<typeof createRedis> | undefined;
  try {
    redis = createRedis(url, { name: 'doctor' });
    const facts = await Promise.race([getServerInfo(redis), late]);
    return checkRedis(facts, undefined).map((check) => ({ ...check, what: check.what.replace('redis', 'REDIS_URL') }));
  } catch (error) {
    return [{ what: 'REDIS_URL', verdict: 'fail', found: messageOf(error), fix: 'is Redis running, and is REDIS_URL its address?' }];
  } finally {
    done.abort();
    redis?.disconnect();
  }
}

async function attempt<T>(what: string, fix: string, ask: () => Promise<T>): Promise<{ value?: T; failure?: Check }> {
  try {
    return { value: await ask() };
  } catch (error) {
    if (!(error instanceof ToolyardError)) throw error;
    return { failure: { what, verdict: 'fail', found: error.message, fix } };
  }
}

function lineOf({ what, verdict, found, fix }: Check, terminal: CommandContext['terminal']): string {
  const mark = terminal.colour(MARKS[verdict], verdict.padEnd(4));
  const cure = fix === undefined ? '' : `\n${' '.repeat(5)}→ ${oneLine(fix, 300)}`;
  return `${mark} ${what.padEnd(24)} ${oneLine(found, 300)}${cure}`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
