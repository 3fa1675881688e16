// Records what this release stores, for later releases to read: `npm run build && node test/replay/record.mjs`.
// data-folder.<version>.aof.gz: the append-only file of standalone, stopped while calls ran and waited; .json: what clients saw by then.
// call-history.v<format>.json: a call with an event of every type. Once a release is out its recording is never made again.
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { LOG_FORMAT } from '#event-log';
import { createRedis } from '#redis';
import { freePort } from '../support/free-port.mjs';
import { recordHistory } from './recorded-history.mjs';
import { makeBatches, makeCalls, makeSettings } from './recorded-calls.mjs';

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
/** TEST_KEY of test/support/agent.ts: the replay acts with it. */
const KEY = 'test-key-of-the-default-tenant';

const folder = mkdtempSync(join(tmpdir(), 'toolyard-record-'));
writeFileSync(join(folder, 'key'), `${KEY}\n`, { mode: 0o600 });
const port = await freePort();
const child = spawn(process.execPath, ['dist/apps/standalone/src/main.js'], {
  env: {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    TOOLYARD_DATA: folder,
    GATEWAY_PORT: String(port),
    DATABASE_URL: 'none',
    ARCHIVE_URL: 'none',
    WORKER_CONCURRENCY: 'shell=3',
  },
  stdio: ['ignore', 'pipe', 'inherit'],
});
let banner = '';
for await (const chunk of child.stdout) if ((banner += chunk).includes('A first call:')) break;

/** Sends one request; rejects if the response is neither 2xx nor one of `expected`. */
async function api(method, path, body, headers = {}) {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { authorization: `Bearer ${KEY}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path} was answered ${answer.status}: ${text}`);
  return text === '' ? undefined : JSON.parse(text);
}

/** Repeats until `find` returns something. */
async function until(find) {
  for (const end = Date.now() + 60_000; Date.now() < end;) {
    const found = await find();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`timed out after 60000 ms waiting for ${find}`);
}

async function described(ids) {
  const calls = {};
  for (const [name, id] of Object.entries(ids)) {
    const { status, outcome } = await api('GET', `/v1/calls/${id}`);
    const { events } = await api('GET', `/v1/calls/${id}/events`);
    calls[name] = { id, status, ...(outcome === undefined ? {} : { outcome }), events: events.map(({ type }) => type) };
  }
  return calls;
}

/** The data as commands: Redis rewrites its file while the processes that write are stopped. */
async function appendOnlyFile() {
  const redis = createRedis(`unix://${join(folder, 'redis.sock')}`);
  await redis.call('CONFIG', 'SET', 'aof-use-rdb-preamble', 'no');
  await redis.call('BGREWRITEAOF');
  await until(async () =>
    /aof_rewrite_in_progress:0[^]*aof_rewrite_scheduled:0/.test(await redis.info('persistence')) ? true : undefined,
  );
  redis.disconnect();
  const files = join(folder, 'redis/appendonlydir');
  const names = readdirSync(files).sort();
  const [base, more] = ['.base.aof', '.incr.aof'].map((end) => names.filter((name) => name.endsWith(end)).map((name) => join(files, name)));
  return Buffer.concat([...base, ...more].map((file) => readFileSync(file)));
}

const target = (type) => new URL(`data-folder.${version}.${type}`, import.meta.url);
try {
  const settings = await makeSettings(api, until);
  const calls = await makeCalls(api, until);
  const batches = await makeBatches(api, until, calls);
  const written = { writtenAt: '', calls: await described(calls), batches, ...settings };
  child.kill('SIGSTOP');
  written.writtenAt = new Date().toISOString();
  writeFileSync(target('aof.gz'), gzipSync(await appendOnlyFile(), { level: 9 }));
  writeFileSync(target('json'), `${JSON.stringify(written, undefined, 2)}\n`);
  const history = new URL(`call-history.v${LOG_FORMAT}.json`, import.meta.url);
  writeFileSync(history, JSON.stringify(await recordHistory(`Recorded from version ${version} by record.mjs. Never change it.`)));
  execFileSync('npx', ['oxfmt', target('json').pathname, history.pathname]);
} finally {
  child.kill('SIGKILL');
  process.kill(Number(readFileSync(join(folder, 'redis.pid'), 'utf8')), 'SIGKILL');
  rmSync(folder, { recursive: true, force: true });
}
