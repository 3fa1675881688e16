import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ToolyardClient } from '#client';
import type { Call } from '#contracts';
import { asCli, asCurl, asPython, asSdk, requestAsCurl, requestAsPython, requestAsTypeScript } from '#subject';
import { startTestCluster, TEST_KEY, type TestCluster } from '../support/test-cluster.js';

let toolyard: TestCluster;
let client: ToolyardClient;
let folder: string;
const url = () => toolyard.gateways[0]?.url ?? '';

/** Nothing in it may be read by a shell or a language. */
const HOSTILE = {
  text: `it's "quoted" \\ $(touch made) \`touch made\` !! %s {} é 😀 \u2028 \n\t'''`,
  'a key': [true, false, null, -1.5e-7, { '': [] }, `\u0000\u007f`],
};

beforeAll(async () => {
  toolyard = await startTestCluster({ lists: true });
  client = new ToolyardClient({ baseUrl: url(), apiKey: TEST_KEY });
  folder = mkdtempSync(join(tmpdir(), 'copy-as-'));
  copyFileSync('apps/examples/python/toolyard.py', join(folder, 'toolyard.py'));
  mkdirSync(join(folder, 'node_modules/@toolyard/client'), { recursive: true });
  const built = pathToFileURL(join(process.cwd(), 'dist/libs/client/src/index.js')).href;
  writeFileSync(join(folder, 'node_modules/@toolyard/client/package.json'), '{"type":"module","exports":"./index.js"}');
  writeFileSync(join(folder, 'node_modules/@toolyard/client/index.js'), `export * from '${built}';\n`);
  symlinkSync(join(process.cwd(), 'apps/cli/bin/toolyard'), join(folder, 'toolyard'));
});
afterAll(async () => {
  client.close();
  await toolyard.close();
  rmSync(folder, { recursive: true, force: true });
});

describe('a call, copied and pasted', () => {
  it.each([
    ['curl', asCurl, ['sh', '-c']],
    ['command line', asCli, ['sh', '-c']],
    ['TypeScript', asSdk, [process.execPath, '--input-type=module', '-e']],
    ['Python', asPython, ['python3', '-c']],
  ] as const)('submits the same call again when it is copied as %s', async (name, copyAs, [program, ...words]) => {
    const sessionId = `copied-${name.replace(' ', '-')}`;
    const first = await client.calls.run({ tool: 'echo', arguments: HOSTILE, sessionId });
    const env = { PATH: `${folder}:${process.env['PATH']}`, TOOLYARD_API_KEY: TEST_KEY };
    execFileSync(program, [...words, copyAs(first, url())], { cwd: folder, env });
    const { calls } = await client.calls.list({ sessionId: [sessionId], limit: 10 });
    const [second, ...others] = await Promise.all(calls.filter(({ id }) => id !== first.id).map(({ id }) => client.calls.get(id)));
    expect(others).toEqual([]);
    const repeated = ({ tool, arguments: args, outcome }: Partial<Call>) => ({ tool, arguments: args, outcome });
    expect(repeated(second ?? {})).toEqual(repeated(first));
    expect(first.arguments).toEqual({ ...HOSTILE, 'a key': expect.any(Array) });
  });
});

it.each([
  ['curl', requestAsCurl, ['sh', '-c']],
  ['TypeScript', requestAsTypeScript, [process.execPath, '--input-type=module', '-e']],
  ['Python', requestAsPython, ['python3', '-c']],
] as const)('copies any request as %s so that it reaches the gateway unchanged', (name, requestAs, [program, ...words]) => {
  const headers = { 'Content-Type': 'application/json', Prefer: 'wait=30', 'Idempotency-Key': `it's"${name}"\\$(made)` };
  const request = { method: 'POST', path: '/v1/calls', headers, needsKey: true, body: { tool: 'echo', arguments: HOSTILE } };
  const env = { PATH: process.env['PATH'], TOOLYARD_API_KEY: TEST_KEY, TOOLYARD_URL: url() };
  const answer = execFileSync(program, [...words, requestAs(request)], { cwd: folder, env, encoding: 'utf8' });
  expect(JSON.parse(answer.slice(answer.indexOf('{')))).toMatchObject({ outcome: 'completed', arguments: HOSTILE });
});
