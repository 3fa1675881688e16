import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { z } from 'zod';
import { POOLS } from '#contracts';
import { createRedis } from '#redis';
import { readGatewayConfig } from '../../apps/gateway/src/platform/gateway.config.js';
import { readProjectorConfig } from '../../apps/projector/src/projector.config.js';
import { readStandaloneConfig } from '../../apps/standalone/src/standalone.config.js';
import { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { startRedisServer } from '../support/redis-server.mjs';
import { cleanUp, freshDirectory, spawnStandalone, submit } from '../support/standalone.js';

const Service = z.object({
  image: z.string().optional(),
  command: z.array(z.string()).optional(),
  environment: z.record(z.string(), z.string()).default({}),
  networks: z.array(z.string()).default([]),
  deploy: z.object({ replicas: z.number() }).optional(),
  volumes: z.array(z.string()).default([]),
});
const Compose = z.object({ services: z.record(z.string(), Service), networks: z.record(z.string(), z.unknown()) });
const compose = Compose.parse(parse(readFileSync('deploy/compose.yaml', 'utf8'), { merge: true }));
const Scrapes = z.object({
  scrape_configs: z.array(
    z.object({ job_name: z.string(), dns_sd_configs: z.array(z.object({ names: z.array(z.string()), port: z.number() })) }),
  ),
});

describe('compose.yaml', () => {
  it('runs two gateways and two workers a pool beside Redis, PostgreSQL, a projector, Prometheus and Grafana by compose.yaml', () => {
    expect(compose.services['gateway']?.deploy?.replicas).toBe(2);
    for (const pool of POOLS) {
      expect([
        pool,
        compose.services[`worker-${pool}`]?.environment['WORKER_POOLS'],
        compose.services[`worker-${pool}`]?.deploy?.replicas,
      ]).toEqual([pool, pool, 2]);
    }
    expect(Object.keys(compose.services).sort()).toEqual(
      ['gateway', 'grafana', 'postgres', 'projector', 'prometheus', 'redis', ...POOLS.map((pool) => `worker-${pool}`)].sort(),
    );
  });

  it('limits access to Redis to the apps of compose.yaml', () => {
    expect(compose.networks).toEqual({ data: { internal: true }, history: { internal: true } });
    expect(compose.services['redis']?.networks).toEqual(['data']);
    const onData = Object.entries(compose.services)
      .filter(([, service]) => service.networks.includes('data'))
      .map(([name]) => name);
    expect(onData).not.toContain('prometheus');
  });

  it('allows gateways, the projector and Grafana access to the history, but no worker', () => {
    expect(compose.services['postgres']?.networks).toEqual(['history']);
    const onHistory = Object.entries(compose.services).filter(([, service]) => service.networks.includes('history'));
    expect(onHistory.map(([name]) => name).sort()).toEqual(['gateway', 'grafana', 'postgres', 'projector']);
  });

  it('declares one archive in compose.yaml, writable by the projector only', () => {
    const mounts = ['gateway', 'projector', ...POOLS.map((pool) => `worker-${pool}`)].map((name) => {
      const service = compose.services[name];
      return [name, service?.environment['ARCHIVE_URL'], service?.volumes.find((volume) => volume.startsWith('archive:'))];
    });
    const expected = mounts.map(([name]) => [name, 'file:/archive', name === 'projector' ? 'archive:/archive' : 'archive:/archive:ro']);
    expect(mounts).toEqual(expected);
    expect(dockerfile()).toContain('install -d -o toolyard -g toolyard /workspaces /archive /archive-key');
  });

  it('sets only known variables with valid values in compose.yaml', () => {
    const { gateway, projector } = compose.services;
    expect(readGatewayConfig({ ...gateway?.environment, TOOLYARD_API_KEY: 'a-key-of-some-length' })).toMatchObject({
      databaseUrl: 'postgres://toolyard@postgres:5432/toolyard',
      archiveUrl: 'file:/archive',
    });
    expect(readProjectorConfig(projector?.environment ?? {})).toMatchObject({ signingKeyFile: '/archive-key/key' });
  });

  it('mounts files that exist in compose.yaml and starts programs that the build makes', () => {
    const mounted = Object.values(compose.services)
      .flatMap(({ volumes }) => volumes.map((volume) => volume.split(':')[0] ?? ''))
      .filter((path) => path.startsWith('.'));
    expect(mounted).toHaveLength(5);
    for (const path of mounted) expect([path, existsSync(`deploy/${path}`)]).toEqual([path, true]);
    const programs = [
      ...Object.values(compose.services).flatMap(({ command }) => command ?? []),
      ...stages().flatMap((stage) => /^CMD \["(.+)"\]$/m.exec(stage)?.slice(1) ?? []),
    ].filter((word) => word.startsWith('dist/'));
    expect(programs).toHaveLength(POOLS.length + 3);
    for (const program of programs) expect([program, existsSync(program.replace(/^dist\/(.*)\.js$/, '$1.ts'))]).toEqual([program, true]);
  });
});

describe('the Dockerfile', () => {
  it('makes images that run as an ordinary user, with an init as process 1, a health check and ripgrep', () => {
    const [, system, standalone, last] = stages();
    expect(system).toMatch(/^ENTRYPOINT \["tini", "--",/m);
    expect(system).toMatch(/^HEALTHCHECK /m);
    expect(system).toMatch(/\bripgrep\b/);
    for (const stage of [standalone, last]) {
      expect(stage).toMatch(/^FROM system\b/);
      expect(stage).toMatch(/^USER 10001:10001$/m);
      expect(stage).not.toMatch(/^(ENTRYPOINT|HEALTHCHECK) /m);
    }
  });

  it('builds an all-in-one container target that stores its data in a volume', () => {
    const standalone = stages()[2] ?? '';
    expect(standalone).toMatch(/^FROM system AS standalone$/m);
    expect(standalone).toMatch(/^ && apt-get install .*\bredis-server\b/m);
    const [, names = ''] = /^ENV (.+)$/m.exec(standalone) ?? [];
    const env = Object.fromEntries(names.split(' ').map((pair) => pair.split('=')));
    expect(readStandaloneConfig(env).dataDirectory).toBe(/^VOLUME (.+)$/m.exec(standalone)?.[1]);
    expect(standalone).toMatch(/install -d -m 700 -o toolyard -g toolyard \/data$/m);
  });
});

/** Without a container engine: the stages run in a folder, whose system is that of this machine. */
describe('the root file system of the standalone image', () => {
  const root = mkdtempSync(join(tmpdir(), 'toolyard-image-'));
  const [built, image] = [join(root, 'build'), join(root, 'image')];
  const [build = '', system = '', standalone = ''] = stages();

  beforeAll(() => {
    for (const folder of [built, image]) mkdirSync(folder);
    for (const [, name = '', text = ''] of instructions(build)) {
      if (name === 'COPY') copy(process.cwd(), built, text, '-a');
      // Packages and programs are there already, the same as the commands make.
      const linked = (folder: string) => `cp -al ${join(process.cwd(), folder)} .`;
      const list = 'node_modules/.package-lock.json';
      const packages = `${linked('node_modules')} && cp --remove-destination ${join(process.cwd(), list)} ${list}`;
      const command = text.replace(/^npm ci\b.*/m, packages).replace('npm run build', linked('dist'));
      if (name === 'RUN') execFileSync('sh', ['-ec', command], { cwd: built, stdio: 'pipe' });
    }
    for (const [, name = '', text = ''] of instructions(system)) {
      const fromBuild = /^--from=build (.*)/.exec(text)?.[1]?.replaceAll('/app/', '');
      if (name === 'COPY')
        copy(fromBuild === undefined ? process.cwd() : built, image, fromBuild ?? text, fromBuild === undefined ? '-a' : '-al');
    }
    writeFileSync(join(root, 'passwd'), 'root:x:0:0::/root:/bin/sh\ntoolyard:x:10001:10001::/tmp:/usr/sbin/nologin\n');
  });
  afterAll(async () => {
    await cleanUp();
    rmSync(root, { recursive: true, force: true });
  });

  it('runs calls and lists them in the standalone image, as its user on a root that is read only, with a PostgreSQL of npm', async () => {
    const data = freshDirectory();
    const words = (stage: string, name: string) => JSON.parse(textOf(stage, name)) as string[];
    const user = '--unshare-user --uid 10001 --gid 10001 --cap-drop ALL --die-with-parent';
    const places = `--ro-bind / / --dev /dev --proc /proc --tmpfs /tmp --ro-bind ${join(root, 'passwd')} /etc/passwd`;
    const mounts = `--ro-bind ${image} /mnt --bind ${data} ${data} --chdir /mnt`;
    const program = [...words(system, 'ENTRYPOINT').slice(2), ...words(standalone, 'CMD')];
    const command = ['bwrap', ...`${user} ${places} ${mounts}`.split(' '), ...program];
    const { GATEWAY_PORT: _, ...settings } = { ...variables(system), ...variables(standalone) };
    const own = { TOOLYARD_DATA: data, WORKSPACE_ROOT: join(data, 'workspaces'), DATABASE_URL: '', HOME: '/tmp' };
    const app = await spawnStandalone(data, { ...settings, ...own }, command);
    await app.up();
    const call = await submit(app, { tool: 'file_write', arguments: { path: 'a.txt', content: 'in the image' } });
    expect(call.outcome).toBe('completed');
    const agent = new Agent(app.url, app.key());
    await eventually(async () => JSON.stringify((await agent.get('/v1/calls')).body).includes(call.id), 'the call in the lists');
    app.signal('SIGTERM');
    await app.ended();
  });
});

describe('prometheus.yaml', () => {
  it('passes promtool check config with prometheus.yaml', () => {
    const run = spawnSync('promtool', ['check', 'config', 'deploy/prometheus/prometheus.yaml'], { encoding: 'utf8' });
    if (run.error) throw new Error('promtool is missing. Install it: apt-get install prometheus', { cause: run.error });
    expect([run.status, run.stderr]).toEqual([0, '']);
  });

  it('scrapes every gateway, worker and projector of compose.yaml', () => {
    const scrapes = Scrapes.parse(parse(readFileSync('deploy/prometheus/prometheus.yaml', 'utf8')));
    const names = scrapes.scrape_configs.flatMap((job) => job.dns_sd_configs.flatMap((dns) => dns.names));
    expect(names.sort()).toEqual(
      Object.keys(compose.services)
        .filter((name) => name === 'gateway' || name === 'projector' || name.startsWith('worker-'))
        .sort(),
    );
  });
});

describe('redis.conf', () => {
  it('configures Redis to sync every write before it answers, and to evict nothing', async () => {
    const file = readFileSync('deploy/redis/redis.conf', 'utf8');
    const words = file
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .flatMap((line) => {
        const [name = '', ...values] = line.split(' ');
        return [`--${name}`, ...values.map((value) => (value === '""' ? '' : value))];
      });
    const server = await startRedisServer({ settings: words });
    const redis = createRedis(server.url);
    try {
      const settings = new Map<string, unknown>();
      for (const name of ['appendonly', 'appendfsync', 'maxmemory-policy', 'save', 'aof-load-truncated'])
        settings.set(name, await redis.config('GET', name));
      expect(Object.fromEntries([...settings].map(([name, answer]) => [name, z.array(z.string()).parse(answer)[1]]))).toEqual({
        appendonly: 'yes',
        appendfsync: 'always',
        'maxmemory-policy': 'noeviction',
        save: '',
        'aof-load-truncated': 'yes',
      });
    } finally {
      redis.disconnect();
      await server.stop();
    }
  });
});

/** Instructions of a stage with their texts, whose lines that go on are joined. */
function instructions(stage: string): RegExpMatchArray[] {
  return [...stage.replaceAll('\\\n', '').matchAll(/^([A-Z]+) (.+)$/gm)];
}

function textOf(stage: string, name: string): string {
  return instructions(stage).find((it) => it[1] === name)?.[2] ?? '[]';
}

function variables(stage: string): Record<string, string> {
  const pairs = instructions(stage).flatMap(([, name, text = '']) => (name === 'ENV' ? text.trim().split(/\s+/) : []));
  return Object.fromEntries(pairs.map((pair) => pair.split('=')));
}

/** Files that the patterns of a COPY name. */
function matching(folder: string, patterns: readonly string[]): string[] {
  return execFileSync('sh', ['-c', `ls -d ${patterns.join(' ')}`], { cwd: folder, encoding: 'utf8' })
    .trim()
    .split('\n');
}

/** Does what COPY does: of a folder the content is copied. `-al` makes links, for files that nothing changes. */
function copy(from: string, to: string, text: string, how: '-a' | '-al'): void {
  const names = text.split(' ');
  const target = names.pop() ?? '';
  const isFolder = (name: string) => statSync(join(from, name)).isDirectory();
  for (const source of matching(from, names)) {
    const place = join(to, target, target.endsWith('/') && !isFolder(source) ? basename(source) : '');
    mkdirSync(join(place, isFolder(source) ? '.' : '..'), { recursive: true });
    execFileSync('cp', [how, '-T', join(from, source), place]);
  }
}

function stages(): string[] {
  return dockerfile()
    .split(/\n(?=FROM )/)
    .slice(1);
}

function dockerfile(): string {
  return readFileSync('deploy/Dockerfile', 'utf8');
}
