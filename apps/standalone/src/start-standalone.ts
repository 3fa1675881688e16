import { rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { LOCAL_INSTALLATION, type Posture } from '#contracts';
import { readGatewayConfig, type GatewayConfig } from '../../gateway/src/platform/gateway.config.js';
import { configFactsOf, ownPosturesOf, type ConfigFacts, type OwnPosture } from '../../gateway/src/platform/config-facts.js';
import { readWorkerConfig, type WorkerConfig } from '../../worker/src/platform/worker.config.js';
import { readProjectorConfig, type ProjectorConfig } from '../../projector/src/projector.config.js';
import { checkRetention } from '../../projector/src/retention.config.js';
import { readOrMakeKey } from './data/api-key.js';
import { openDataDirectory, type DataDirectory } from './data/data-directory.js';
import { lockDirectory } from './data/directory-lock.js';
import { startHistory, startProjectorProcess } from './postgres/start-history.js';
import { countOpenCalls } from './redis/open-calls.js';
import { startEmbeddedRedis } from './redis/embedded-redis.js';
import { checkRedis } from './redis/check-redis.js';
import { readStandaloneConfig, type StandaloneConfig } from './standalone.config.js';
import { programsOf, type Programs } from './programs.js';
import { sourcesOf, type FoundSource } from './sources.js';
import { explain, StartupError } from './start-failure.js';
import { startProgress } from './start-progress.js';
import { createServer } from 'node:net';

export interface Standalone {
  readonly url: string;
  readonly keyFile: string | undefined;
  readonly key: string;
  readonly dataDirectory: string;
  /** Programs that run in this folder find data folder and address by themselves. */
  readonly foundByDefault: boolean;
  readonly redis: string;
  /** Place of lists and numbers. */
  readonly history: string;
  /** Default of sessions. */
  readonly posture: Posture;
  readonly ownPostures: readonly OwnPosture[];
  readonly programs: Programs;
  readonly sources: readonly FoundSource[];
  /** The folders of TOOLYARD_TOOLS. */
  readonly toolFolders: readonly string[];
  /** Absent without a config file. */
  readonly configFile: ConfigFacts | undefined;
  /** Drains in order: no new calls, running calls end, Redis with its data on disk. Idempotent. */
  stop(): Promise<void>;
  /** Number of calls without an End, after `stop`. Undefined for a shared Redis. */
  openCalls(): number | undefined;
}

/** A source that is slower is shown as connecting. */
const SOURCES_MS = 2_000;

/** Actions that undo the start, in reverse order; each runs once, even if another fails. */
type Undo = () => void | Promise<void>;

/**
 * Starts one installation in this process:
 * environment → data directory and its lock → port → key → Redis (own child, or the one of REDIS_URL) → history (own PostgreSQL,
 * or the one of DATABASE_URL) with its projector → worker and gateway.
 * On an error all that was started is stopped again.
 *
 * @throws StartupError for what the user can fix
 */
export async function startStandalone(env: NodeJS.ProcessEnv, tell: (line: string) => void): Promise<Standalone> {
  const config = readStandaloneConfig(env);
  const checked = checkApps(env);
  const directory = openDataDirectory(config.dataDirectory);
  const undo: Undo[] = [lockDirectory(directory)];
  const down = once(() => undoAll(undo));
  const progress = startProgress(tell);
  try {
    await checkPort(checked.gateway);
    const key = config.apiKey ?? readOrMakeKey(directory.key);
    const redis = await progress(config.redisUrl === undefined ? 'Redis, which loads its data' : 'the Redis of REDIS_URL', () =>
      startRedis(config, directory, undo, tell),
    );
    let openCalls: number | undefined;
    if (config.redisUrl === undefined)
      undo.push(async () => {
        openCalls = await countOpenCalls(redis.url, checked.gateway.partitions).catch(() => undefined);
      });
    const history = await progress(
      config.databaseUrl === undefined ? 'PostgreSQL, which makes or recovers its data' : 'the database of DATABASE_URL',
      () => startHistory(config.databaseUrl, directory, tell),
    );
    undo.push(() => history.stop());
    const archive = archiveUrlOf(config, directory);
    const ours = {
      ...env,
      ...ownKeys(env, directory),
      TOOLYARD_API_KEY: key,
      REDIS_URL: redis.url,
      DATABASE_URL: history.databaseUrl,
      ARCHIVE_URL: archive,
      TOOLYARD_DATA: directory.path,
    };
    const apps = readApps(ours);
    if (history.databaseUrl !== undefined || archive !== undefined) {
      const projector = await progress('the projector, which makes its tables', () => startProjectorProcess(directory, ours, tell));
      undo.push(() => projector.stop());
    }
    const started = await progress('worker and gateway, which load and read the end of the log', () => startApps(apps, undo));
    writeFileSync(directory.address, `${started.url}\n`);
    undo.push(() => rmSync(directory.address, { force: true }));
    return {
      ...started,
      keyFile: config.apiKey === undefined ? directory.key : undefined,
      key,
      dataDirectory: directory.path,
      redis: redis.label,
      history: history.label,
      foundByDefault: config.dataDirectory === LOCAL_INSTALLATION.data && started.url === LOCAL_INSTALLATION.url,
      posture: apps.gateway.defaultPosture,
      ownPostures: ownPosturesOf(apps.gateway),
      configFile: configFactsOf(apps.gateway),
      stop: down,
      openCalls: () => openCalls,
    };
  } catch (error) {
    await down();
    throw error;
  }
}

async function startRedis(config: StandaloneConfig, directory: DataDirectory, undo: Undo[], tell: (line: string) => void) {
  if (config.redisUrl !== undefined) {
    await checkRedis(config.redisUrl);
    return { url: config.redisUrl, label: 'the one of REDIS_URL' };
  }
  const redis = await startEmbeddedRedis(directory, tell);
  undo.push(() => redis.stop());
  return { url: redis.url, label: `private, process ${redis.pid}, AOF always (${redis.url})` };
}

/** The worker starts first, so that the first call finds it. Both drain together: waiting requests need running calls to end. */
async function startApps(apps: AppConfigs, undo: Undo[]): Promise<Pick<Standalone, 'url' | 'programs' | 'sources' | 'toolFolders'>> {
  // Loaded here, so that a start that is refused before ends at once.
  const [{ startWorker }, { startGateway }] = await Promise.all([import('../../worker/src/main.js'), import('../../gateway/src/main.js')]);
  const worker = await startWorker(apps.worker);
  undo.push(() => worker.close());
  try {
    const gateway = await startGateway(apps.gateway, { slots: () => worker.slots() });
    undo.pop();
    undo.push(async () => void (await Promise.allSettled([gateway.close(), worker.close()])));
    const sources = await sourcesOf(worker, SOURCES_MS);
    return { url: gateway.url, programs: programsOf(worker), sources, toolFolders: apps.worker.toolFolders };
  } catch (error) {
    throw explain(error, apps.gateway);
  }
}

interface AppConfigs {
  readonly gateway: GatewayConfig;
  readonly worker: WorkerConfig;
}

/** The default on one's own machine: calls run without approval. Environment and config file override it. */
const OPEN_POSTURE: Posture = { autonomy: 'full', permissionMode: 'danger-full-access' };

/** Standalone has one port, so the worker listens on none. A person reads its log, so the level is `warn`. */
function readApps(env: NodeJS.ProcessEnv): AppConfigs {
  const ours = {
    ...env,
    WORKER_PORT: env['WORKER_PORT'] || 'off',
    LOG_LEVEL: env['LOG_LEVEL'] || 'warn',
    OUTSIDE_ROOTS: env['OUTSIDE_ROOTS'] || '/',
    TOOLYARD_USER: env['TOOLYARD_USER'] || 'local',
  };
  const faults: string[] = [];
  const read = <T>(reader: () => T): T | undefined => {
    try {
      return reader();
    } catch (error) {
      faults.push(error instanceof Error ? error.message : String(error));
      return undefined;
    }
  };
  const gateway = read(() => readGatewayConfig(ours, OPEN_POSTURE, { withWorkers: true }));
  const worker = read(() => readWorkerConfig(ours));
  const projector = read(() => checkProjector(ours));
  if (!gateway || !worker || !projector) throw new StartupError(`The configuration is wrong:\n${distinctLines(faults)}`);
  return { gateway, worker };
}

/** The projector is a process of its own: what it would refuse is refused here. Without database and archive it does not start. */
function checkProjector(env: NodeJS.ProcessEnv): ProjectorConfig {
  const isNeeded = (env['DATABASE_URL'] ?? env['ARCHIVE_URL']) !== undefined;
  const config = readProjectorConfig(isNeeded ? env : { ...env, ARCHIVE_URL: 'file:///none' });
  if (isNeeded) checkRetention(config);
  return config;
}

/** Keys that no person needs to know. */
function ownKeys(env: NodeJS.ProcessEnv, { path, sourceTokenKey }: DataDirectory) {
  return {
    ARCHIVE_SIGNING_KEY_FILE: env['ARCHIVE_SIGNING_KEY_FILE'] || join(path, 'archive-key'),
    SOURCE_TOKEN_KEY: env['SOURCE_TOKEN_KEY'] || readOrMakeKey(sourceTokenKey),
  };
}

/** `none` forbids one. */
function archiveUrlOf({ archiveUrl }: StandaloneConfig, { path }: DataDirectory): string | undefined {
  if (archiveUrl === 'none') return undefined;
  return archiveUrl ?? pathToFileURL(resolve(path, 'archive')).href;
}

/** Reports every error of the environment before anything is written; values that are chosen later have placeholders. */
function checkApps(env: NodeJS.ProcessEnv): AppConfigs {
  return readApps({
    ...env,
    TOOLYARD_API_KEY: env['TOOLYARD_API_KEY'] || 'made-at-the-first-start',
    REDIS_URL: env['REDIS_URL'] || 'unix:///redis.sock',
    DATABASE_URL: env['DATABASE_URL'] === 'none' ? undefined : env['DATABASE_URL'] || 'postgres://private',
    ARCHIVE_URL: env['ARCHIVE_URL'] === 'none' ? undefined : env['ARCHIVE_URL'] || 'file:///made-at-the-first-start',
    ARCHIVE_SIGNING_KEY_FILE: env['ARCHIVE_SIGNING_KEY_FILE'] || 'made-at-the-first-start',
  });
}

/** Both apps read some of the same names: each error is listed once. */
function distinctLines(texts: readonly string[]): string {
  const lines = texts.flatMap((text) => text.split('\n')).map((line) => line.trim());
  return [...new Set(lines)]
    .filter((line) => line !== '' && !line.endsWith('environment is wrong:'))
    .map((line) => `  ${line}`)
    .join('\n');
}

async function undoAll(undo: Undo[]): Promise<void> {
  for (const step of undo.splice(0).reverse()) await step();
}

function once(action: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  return () => (running ??= action());
}

/** Fails on a port in use before anything else is started. @throws StartupError for what the user can fix */
async function checkPort(listen: { readonly host: string; readonly port: number }): Promise<void> {
  const server = createServer();
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(listen.port, listen.host, resolve);
    });
  } catch (error) {
    throw explain(error, listen);
  } finally {
    server.close();
  }
}
