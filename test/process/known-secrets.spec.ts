import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { createRedis } from '#redis';
import { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { OtlpCollector } from '../support/otlp-collector.js';
import { testDatabase } from '../support/postgres.js';
import { startTestCluster, TEST_KEY, type AppProcess, type TestCluster } from '../support/test-cluster.js';

/** Each is met in another place, and looks as such a secret does. */
const SECRETS = {
  gatewayKey: TEST_KEY,
  configKey: 'known-secret-01-of-a-configured-key',
  metricsKey: 'known-secret-02-of-the-metrics',
  envToken: 'known-secret-03-deploy-token',
  envPassword: 'known-secret-04-db-password',
  envNamed: 'known-secret-05-named-in-redact-env',
  envUrl: 'known-secret-06-in-a-url',
  searchKey: 'known-secret-07-brave',
  httpSecret: 'known-secret-08-http-request',
  sourceHeader: 'known-secret-09-source-header',
  listed: 'known secret 10 listed in the policy',
  argumentPassword: 'known-secret-11-argument',
  argumentKey: 'known-secret-12-json-argument',
  argumentHeader: 'known-secret-13-bearer',
  argumentUrl: 'known-secret-14-userinfo',
  github: 'ghp_kN0wnS3cr3t15kN0wnS3cr3t15kN0wnS3cr3',
  aws: 'AKIA16KN0WNSECR3TKEY',
  file: 'known-secret-17-in-a-file',
  page: 'known-secret-18-of-a-page',
  mcpText: 'ghp_Mcp19kN0wnS3cr3tMcp19kN0wnS3cr3tMcp1',
  mcpStructured: 'known-secret-20-structured',
} as const;

const folder = mkdtempSync(join(tmpdir(), 'toolyard-known-secrets-'));
const archive = join(folder, 'archive');
/** Data that arrived at the servers, so that the test does not pass because nothing was sent. */
const arrived: string[] = [];
let site: Server;
let collector: OtlpCollector;
let databaseUrl: string;
let toolyard: TestCluster;
let projector: AppProcess;
let agent: Agent;
let siteUrl: string;

const mcpAnswer = (method: string): object => {
  if (method === 'initialize')
    return { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'fake', version: '1' } };
  if (method === 'tools/list') return { tools: [{ name: 'leak', description: 'Answers with secrets', inputSchema: { type: 'object' } }] };
  return {
    content: [{ type: 'text', text: `token ${SECRETS.mcpText} ${SECRETS.sourceHeader}` }],
    structuredContent: { apiKey: SECRETS.mcpStructured, token: SECRETS.mcpText },
  };
};

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

beforeAll(async () => {
  site = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      arrived.push(`${request.url} ${JSON.stringify(request.headers)} ${body}`);
      if (request.url !== '/mcp') return response.end(`password: ${SECRETS.page}`);
      const message = request.method === 'POST' ? (JSON.parse(body) as { id?: unknown; method: string }) : { id: undefined, method: '' };
      if (message.id === undefined) return response.writeHead(request.method === 'POST' ? 202 : 405).end();
      const isKnown = ['initialize', 'tools/list', 'tools/call'].includes(message.method);
      const answer = isKnown ? { result: mcpAnswer(message.method) } : { error: { code: -32601, message: 'Method not found' } };
      return response.setHeader('content-type', 'application/json').end(JSON.stringify({ jsonrpc: '2.0', id: message.id, ...answer }));
    });
  });
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(site.address() as AddressInfo).port}`;
  siteUrl = `http://${host}`;
  collector = await OtlpCollector.start();
  databaseUrl = await testDatabase();
  const config = join(folder, 'toolyard.json');
  const sha256 = createHash('sha256').update(SECRETS.configKey).digest('hex');
  writeFileSync(
    config,
    JSON.stringify({
      keys: [{ id: 'other', sha256, tenant: 'default', scopes: ['submit', 'read', 'admin'] }],
      safety: { redaction: { values: [SECRETS.listed] } },
      sources: [
        { name: 'fake', kind: 'mcp', url: `${siteUrl}/mcp`, trust: true, headers: { 'X-Api-Key': { secretEnv: 'FAKE_SOURCE_AUTH' } } },
      ],
    }),
  );
  toolyard = await startTestCluster({
    env: {
      TOOLYARD_CONFIG: config,
      DATABASE_URL: databaseUrl,
      ARCHIVE_URL: `file://${archive}`,
      LOG_LEVEL: 'trace',
      METRICS_KEY: SECRETS.metricsKey,
      DEPLOY_TOKEN: SECRETS.envToken,
      DB_PASSWORD: SECRETS.envPassword,
      ODD_NAME: SECRETS.envNamed,
      REDACT_ENV: 'ODD_NAME',
      UPSTREAM: `https://user:${SECRETS.envUrl}@example.com/`,
      BRAVE_API_KEY: SECRETS.searchKey,
      SITE_AUTH: SECRETS.httpSecret,
      HTTP_SECRETS: JSON.stringify({ SITE_AUTH: { hosts: [host], tenants: ['default'] } }),
      FAKE_SOURCE_AUTH: SECRETS.sourceHeader,
      EGRESS_ALLOW_HOSTS: host,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_BSP_SCHEDULE_DELAY: '100',
      OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true',
    },
  });
  const keyFile = join(folder, 'signing-key');
  projector = await toolyard.projector({
    DATABASE_URL: databaseUrl,
    ARCHIVE_URL: `file://${archive}`,
    ARCHIVE_SIGNING_KEY_FILE: keyFile,
    METRICS_KEY: SECRETS.metricsKey,
    HOT_WINDOW_CALLS: '0',
    LOG_LEVEL: 'trace',
  });
  agent = new Agent(toolyard.gateways[0]?.url ?? '');
});

afterAll(async () => {
  await toolyard.close();
  await collector.close();
  site.close();
  rmSync(folder, { recursive: true });
});

async function inRedis(): Promise<string> {
  const redis = createRedis(toolyard.redis.url);
  const all: string[] = [];
  for (const key of await redis.keys('*')) {
    // Settings of calls list what is secret, for the workers.
    if (key.startsWith('safety:')) continue;
    const kind = await redis.type(key);
    const value =
      kind === 'string'
        ? (await redis.getBuffer(key))?.toString('latin1')
        : kind === 'stream'
          ? await redis.xrange(key, '-', '+')
          : kind === 'hash'
            ? await redis.hgetall(key)
            : kind === 'zset'
              ? await redis.zrange(key, '0', '-1')
              : kind === 'list'
                ? await redis.lrange(key, 0, -1)
                : await redis.smembers(key);
    all.push(`${key} ${JSON.stringify(value)}`);
  }
  redis.disconnect();
  return all.join('\n');
}

async function inPostgres(): Promise<string> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const tables = await client.query<{ name: string }>(
    `select quote_ident(schemaname) || '.' || quote_ident(tablename) as name from pg_tables where schemaname not in ('pg_catalog', 'information_schema')`,
  );
  const all: string[] = [];
  for (const { name } of tables.rows) {
    const { rows } = await client.query<{ row: string }>(`select row_to_json(t)::text as row from ${name} t`);
    all.push(name, ...rows.map(({ row }) => row));
  }
  await client.end();
  return all.join('\n');
}

/** Text of each file below a folder, unpacked. A file that is renamed meanwhile counts as absent, as those of the sealer are. */
function inFiles(at: string): string {
  if (!existsSync(at)) return '';
  return readdirSync(at, { recursive: true, encoding: 'utf8' })
    .map((name) => textOf(join(at, name)))
    .join('\n');
}

function textOf(path: string): string {
  try {
    if (!statSync(path).isFile()) return '';
    const bytes = readFileSync(path);
    return `${path}\n${(bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes) : bytes).toString('latin1')}`;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}

describe('known secrets', () => {
  it('stores and shows none of 20 known secrets in Redis, PostgreSQL, archive, logs, traces and metrics', async () => {
    const more = { sessionId: 'known' };
    writeFileSync(join(folder, 'credentials.txt'), `password: ${SECRETS.file}\naws ${SECRETS.aws}\n`);
    const calls = [
      await agent.run(
        'shell',
        { command: `printf '%s\\n' 'password=${SECRETS.argumentPassword}' ${SECRETS.github} '${SECRETS.listed}'` },
        more,
      ),
      await agent.run('shell', { command: `printf %s '${SECRETS.envToken} ${SECRETS.envPassword} ${SECRETS.envNamed}' >&2; exit 3` }, more),
      await agent.run(
        'shell',
        { command: `echo ${SECRETS.envUrl} ${SECRETS.searchKey} ${SECRETS.httpSecret} ${SECRETS.metricsKey}` },
        more,
      ),
      await agent.run('file_read', { path: join(folder, 'credentials.txt') }, more),
      await agent.run('file_read', { path: join(folder, `missing password=${SECRETS.argumentPassword}`) }, more),
      await agent.run('http_request', { url: `${siteUrl}/a`, headers: { Authorization: `Bearer ${SECRETS.argumentHeader}` } }, more),
      await agent.run('http_request', { url: `${siteUrl}/b`, method: 'POST', body: JSON.stringify({ apiKey: SECRETS.argumentKey }) }, more),
      await agent.run('web_fetch', { url: `http://user:${SECRETS.argumentUrl}@${new URL(siteUrl).host}/c` }, more),
      await eventually(async () => {
        const call = await agent.run('fake__leak', { token: SECRETS.github }, more);
        return call.error?.code === 'not_found' ? undefined : call;
      }, 'the tool of the server'),
      await agent.run('echo', { apiKey: SECRETS.argumentKey, text: `bearer ${SECRETS.aws} ${SECRETS.mcpText}` }, more),
      await agent.run('echo', { wrong: { password: SECRETS.argumentPassword } }, { ...more, labels: { token: SECRETS.github } }),
    ];
    await agent.request('POST', '/v1/sessions/known/steer', { message: `use ${SECRETS.github} and '${SECRETS.listed}'` });
    await agent.request('GET', `/v1/calls?key=${SECRETS.configKey}&token=${SECRETS.envToken}`);
    await new Agent(agent.url, SECRETS.configKey).get('/v1/keys');
    await new Agent(agent.url, `${SECRETS.configKey}x`).get('/v1/keys');
    await eventually(() => inFiles(archive).includes(calls[0]?.id ?? '?') || undefined, 'the archive of the first call');
    await eventually(async () => (await inPostgres()).includes(calls.at(-1)?.id ?? '?') || undefined, 'the last call in the history');
    await eventually(() => collector.bodies.some((body) => body.includes(calls.at(-1)?.id ?? '?')) || undefined, 'the traces');

    const apps = [...toolyard.gateways, ...toolyard.workers, projector];
    const metrics = await Promise.all(
      apps.map(async ({ url }) => (await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${SECRETS.metricsKey}` } })).text()),
    );
    const answers = await Promise.all(
      calls.map(async ({ id }) => [
        await agent.get(`/v1/calls/${id}`),
        await agent.get(`/v1/calls/${id}/events`),
        await agent.get(`/v1/calls/${id}/output`),
      ]),
    );
    const places = {
      answers: JSON.stringify([calls, answers]),
      redis: await inRedis(),
      postgres: await inPostgres(),
      archive: inFiles(archive),
      workspaces: inFiles(join(toolyard.workspaceRoot, '.toolyard')),
      logs: apps.map((app) => app.log()).join('\n'),
      traces: collector.bodies.join('\n'),
      metrics: metrics.join('\n'),
    };
    for (const [place, text] of Object.entries(places))
      if (place !== 'workspaces') expect([place, text.length > 100]).toEqual([place, true]);
    const found = Object.entries(places).flatMap(([place, text]) =>
      Object.entries(SECRETS).flatMap(([name, secret]) => {
        const spellings = [secret, Buffer.from(secret).toString('base64'), encodeURIComponent(secret)];
        const at = spellings.map((it) => text.indexOf(it)).find((it) => it !== -1);
        return at === undefined ? [] : [`${name} in ${place}: ${text.slice(Math.max(0, at - 80), at + 20)}`];
      }),
    );
    expect(found).toEqual([]);
    const sent = [SECRETS.argumentHeader, SECRETS.argumentKey, SECRETS.sourceHeader];
    expect(sent.filter((secret) => !arrived.some((text) => text.includes(secret)))).toEqual([]);
  });
});
