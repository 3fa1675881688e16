import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { installPackages } from '../support/npm-packages.js';
import { startTestCluster, TEST_KEY, type TestCluster } from '../support/test-cluster.js';

const run = promisify(execFile);

/** First steps of a reader of the README, in each client: a call, a batch, a session with a stricter posture, a list, a cancel. */
const WITH_OPENAPI_FETCH = `
import createClient from 'openapi-fetch';
import type { paths } from './openapi-typescript';

async function main(): Promise<void> {
  const baseUrl = String(process.env['URL']);
  const client = createClient<paths>({ baseUrl, headers: { Authorization: 'Bearer ' + process.env['KEY'] } });
  const called = await client.POST('/v1/calls', {
    params: { header: { Prefer: 'wait=60' } },
    body: { tool: 'shell', arguments: { command: 'echo hello' } },
  });
  const [content] = called.data?.result?.content ?? [];
  const batch = await client.POST('/v1/batches', {
    params: { header: { Prefer: 'wait=60' } },
    body: { sessionId: 'demo', strategy: { type: 'tiered' }, calls: [{ tool: 'echo', arguments: { n: [1, { deep: null }] } }] },
  });
  const session = await client.PUT('/v1/sessions/{id}', {
    params: { path: { id: 'demo' } },
    body: { posture: { autonomy: 'supervised', permissionMode: 'workspace-write' } },
  });
  const listed = await client.GET('/v1/calls', { params: { query: { status: ['ended', 'running'], limit: 3 } } });
  // @ts-expect-error -- the document knows what a status can be
  await client.GET('/v1/calls', { params: { query: { status: ['finished'] } } });
  const cancelled = await client.POST('/v1/calls/{id}/cancel', { params: { path: { id: String(called.data?.id) } } });
  const refused = await client.POST('/v1/calls', { body: { tool: 'no_such_tool' } });
  console.log(
    JSON.stringify({
      text: content?.type === 'text' ? content.text : undefined,
      batch: batch.data?.results.map(({ outcome }) => outcome),
      autonomy: session.data?.posture.autonomy,
      listed: listed.data?.calls.map(({ tool }) => tool).sort(),
      cancelled: cancelled.data?.outcome,
      refused: [refused.error?.code, refused.error?.result?.isError],
    }),
  );
}
void main();
`;

const WITH_HEY_API = `
import { createClient } from './hey-api/client';
import { cancelCall, listCalls, putSession, submitBatch, submitCall } from './hey-api';

async function main(): Promise<void> {
  const client = createClient({ baseUrl: String(process.env['URL']), auth: String(process.env['KEY']) });
  const headers = { Prefer: 'wait=60' };
  const called = await submitCall({ client, headers, body: { tool: 'shell', arguments: { command: 'echo hello' } } });
  const [content] = called.data?.result?.content ?? [];
  const batch = await submitBatch({
    client,
    headers,
    body: { sessionId: 'demo', strategy: { type: 'tiered' }, calls: [{ tool: 'echo', arguments: { n: [1, { deep: null }] } }] },
  });
  const posture = { autonomy: 'supervised', permissionMode: 'workspace-write' } as const;
  const session = await putSession({ client, path: { id: 'demo' }, body: { posture } });
  const listed = await listCalls({ client, query: { status: ['ended', 'running'], limit: 3 } });
  // @ts-expect-error -- the document knows what a status can be
  await listCalls({ client, query: { status: ['finished'] } });
  const cancelled = await cancelCall({ client, path: { id: String(called.data?.id) } });
  const refused = await submitCall({ client, body: { tool: 'no_such_tool' } });
  console.log(
    JSON.stringify({
      text: content?.type === 'text' ? content.text : undefined,
      batch: batch.data?.results.map(({ outcome }) => outcome),
      autonomy: session.data?.posture.autonomy,
      listed: listed.data?.calls.map(({ tool }) => tool).sort(),
      cancelled: cancelled.data?.outcome,
      refused: [refused.error?.code, refused.error?.result?.isError],
    }),
  );
}
void main();
`;

/** Rules of Spectral that are off: OpenAPI 3.1 has roles of all security schemes, and each installation has contacts of its own. */
const NOT_SPECTRAL = { 'oas3-operation-security-defined': 'off', 'info-contact': 'off' };

const COMPILER = ['--strict', '--skipLibCheck', '--module', 'nodenext', '--target', 'es2022', '--lib', 'es2023,dom,dom.iterable'];

describe('clients that public generators make from /openapi.json', () => {
  const folder = mkdtempSync(join(tmpdir(), 'toolyard-clients-'));
  const program = (name: string) => resolve('node_modules/.bin', name);
  let toolyard: TestCluster;
  let url: string;

  beforeAll(async () => {
    toolyard = await startTestCluster({ lists: true });
    url = toolyard.gateways[0]?.url ?? '';
    writeFileSync(join(folder, 'openapi.json'), await (await fetch(`${url}/openapi.json`)).text());
    writeFileSync(join(folder, 'package.json'), '{"type":"commonjs"}');
    symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
  });
  afterAll(async () => {
    await toolyard.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const firstCalls = async (name: string, source: string): Promise<unknown> => {
    writeFileSync(join(folder, `${name}.ts`), source);
    const compiled = await run(program('tsc'), [...COMPILER, '--types', 'node', '--outDir', 'built', `${name}.ts`], { cwd: folder }).catch(
      (error: { stdout: string }) => ({ stdout: error.stdout }),
    );
    expect(compiled.stdout).toBe('');
    const { stdout } = await run(process.execPath, [`built/${name}.js`], { cwd: folder, env: { URL: url, KEY: TEST_KEY } });
    return JSON.parse(stdout) as unknown;
  };
  const expected = {
    text: 'hello\n',
    batch: ['completed'],
    autonomy: 'supervised',
    listed: ['echo', 'shell'],
    cancelled: 'completed',
    refused: ['not_found', true],
  };

  it('passes Spectral with /openapi.json', async () => {
    const linter = join(folder, 'spectral');
    mkdirSync(linter);
    await installPackages(linter, ['@stoplight/spectral-cli@6.16.3']);
    writeFileSync(join(linter, 'rules.json'), JSON.stringify({ extends: 'spectral:oas', rules: NOT_SPECTRAL }));
    const words = ['lint', 'openapi.json', '--ruleset', 'spectral/rules.json', '--format', 'json', '--quiet', '--fail-severity', 'hint'];
    const { stdout } = await run(process.execPath, ['spectral/node_modules/.bin/spectral', ...words], {
      cwd: folder,
      maxBuffer: 2 ** 24,
    }).catch((error: { stdout: string }) => error);
    const findings = JSON.parse(stdout) as { code: string; path: string[]; severity: number }[];
    // The only success of a WebSocket is 101.
    expect(findings.map(({ code, path }) => `${code} at ${path.join('/')}`).toSorted()).toEqual([
      'operation-success-response at paths//v1/stream/get/responses',
      'operation-success-response at paths//v1/worker/get/responses',
    ]);
  });

  it('makes the first calls of the README with openapi-typescript and openapi-fetch', async () => {
    await run(program('openapi-typescript'), ['openapi.json', '--output', 'openapi-typescript.ts'], { cwd: folder });
    expect(await firstCalls('with-openapi-fetch', WITH_OPENAPI_FETCH)).toMatchObject(expected);
  });

  it('makes the first calls of the README with @hey-api/openapi-ts', async () => {
    await run(program('openapi-ts'), ['--input', 'openapi.json', '--output', 'hey-api', '--silent'], { cwd: folder });
    expect(await firstCalls('with-hey-api', WITH_HEY_API)).toMatchObject({ ...expected, listed: ['echo', 'shell', 'no_such_tool'].sort() });
  });
});
