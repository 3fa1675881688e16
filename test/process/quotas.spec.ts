import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Call } from '#contracts';
import { Agent } from '../support/agent.js';
import { startTestCluster, type TestCluster } from '../support/test-cluster.js';
import { textOf } from '../support/policy-case.js';

const MEBIBYTE = 1_048_576;
/** Fits into the body of a request. */
const LARGE = 900_000;

describe('what the files of a session and of a tenant may take', () => {
  let toolyard: TestCluster;
  let agent: Agent;
  let other: Agent;

  beforeAll(async () => {
    const sha256 = createHash('sha256').update('key-of-the-other-tenant').digest('hex');
    const scopes = ['submit', 'read', 'cancel', 'approve', 'admin'];
    toolyard = await startTestCluster({
      config: { keys: [{ id: 'other', sha256, tenant: 'other', scopes }] },
      env: {
        WORKSPACE_QUOTA_BYTES: String(4 * MEBIBYTE),
        WORKSPACE_QUOTA_FILES: '100',
        TENANT_QUOTA_BYTES: String(10 * MEBIBYTE),
        TENANT_QUOTA_FILES: '1000',
      },
    });
    agent = toolyard.agent;
    other = new Agent(agent.url, 'key-of-the-other-tenant');
  });
  afterAll(() => toolyard.close());

  const write = (sessionId: string, path: string, bytes: number, by = agent): Promise<Call> =>
    by.run('file_write', { path, content: 'x'.repeat(bytes) }, { sessionId });
  const shell = (sessionId: string, command: string, more: Record<string, unknown> = {}): Promise<Call> =>
    agent.run('shell', { command, ...more }, { sessionId });
  const exceeded = {
    outcome: 'failed',
    error: { code: 'quota_exceeded', retryable: false, message: expect.stringMatching(/^Quota exceeded: /) },
    attempt: 1,
  };

  it('refuses a write beyond the quota with its own code, and accepts one that frees room', async () => {
    for (const name of ['a', 'b', 'c', 'd']) expect(await write('one', name, LARGE)).toMatchObject({ outcome: 'completed' });
    expect(await write('one', 'e', LARGE)).toMatchObject(exceeded);
    expect(await write('one', 'a', 10)).toMatchObject({ outcome: 'completed' });
    expect(await write('one', 'e', LARGE)).toMatchObject({ outcome: 'completed' });
    expect(await write('two', 'a', LARGE)).toMatchObject({ outcome: 'completed' });
  });

  it('counts files of commands for the next write, also many small ones; deletion makes room', async () => {
    const filled = await shell('commands', 'for i in $(seq 30); do head -c 300000 /dev/zero > f$i; done; echo end');
    expect(textOf(filled)).toContain('end');
    expect(await write('commands', 'more', 10)).toMatchObject(exceeded);
    expect(await shell('commands', 'echo more > more')).toMatchObject(exceeded);
    expect(await shell('commands', 'rm f*; ls')).toMatchObject({ outcome: 'completed' });
    expect(await write('commands', 'more', 10)).toMatchObject({ outcome: 'completed' });
    await shell('commands', 'for i in $(seq 120); do : > e$i; done');
    expect(await write('commands', 'another', 0)).toMatchObject(exceeded);
    await shell('commands', 'rm e*');
  });

  it('limits a single file of a command to the rest of the quota', async () => {
    const ended = await shell('large', 'head -c 100M /dev/zero > large');
    expect(ended).toMatchObject(exceeded);
    const size = await shell('large', 'stat -c %s large; rm large');
    expect(Number(textOf(size))).toBeLessThanOrEqual(4 * MEBIBYTE);
  });

  it('stops a running command that keeps writing beyond the quota', async () => {
    const ended = await shell('running', 'i=0; while :; do i=$((i+1)); head -c 1M /dev/zero > f$((i % 8)); sleep 0.1; done', {
      timeout_ms: 100_000,
    });
    expect(ended).toMatchObject(exceeded);
    expect(ended.error?.message).toMatch(/the workspace takes [\d,]+ of 4,194,304 bytes/);
    await shell('running', 'rm f*');
  });

  it('shares the quota of a tenant among its sessions, without effect on another tenant', async () => {
    let last: Call | undefined;
    for (let n = 0; n < 9; n += 1) last = await write(`s${n}`, 'file', LARGE);
    expect(last).toMatchObject({ ...exceeded, error: { code: 'quota_exceeded', message: expect.stringContaining('of the tenant') } });
    expect(await write('s1', 'file', LARGE, other)).toMatchObject({ outcome: 'completed' });
    const metrics = await fetch(`${toolyard.workers[0]?.url}/metrics`).then((response) => response.text());
    expect(metrics).toMatch(/toolyard_quota_refusals_total\{scope="tenant",limit="bytes"\} [1-9]/);
    expect(metrics).toMatch(/toolyard_quota_refusals_total\{scope="workspace",limit="files"\} [1-9]/);
  });
});
