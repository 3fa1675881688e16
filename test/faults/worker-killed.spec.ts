import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { WebSocket } from 'ws';
import { ToolyardClient } from '#client';
import type { CallEvent } from '#contracts';
import { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { startTestCluster, TEST_KEY, type AppProcess, type TestCluster } from '../support/test-cluster.js';

/** Lease of workers that are killed; the others keep their calls however slow the machine is. */
const SHORT_LEASE = { LEASE_MS: '3000' };

describe('a worker that is killed (SIGKILL) while it runs calls', () => {
  let toolyard: TestCluster;
  let agent: Agent;
  let page = '';
  const folder = mkdtempSync(join(tmpdir(), 'toolyard-killed-'));
  const answer = (response: ServerResponse) => {
    response.end('a page');
  };
  let onRequest: typeof answer = answer;
  const site = createServer((_request, response) => onRequest(response));
  beforeAll(async () => {
    site.listen(0, '127.0.0.1');
    await once(site, 'listening');
    page = `http://127.0.0.1:${(site.address() as AddressInfo).port}/`;
    const config = join(folder, 'toolyard.yaml');
    writeFileSync(config, 'policy: { egress: { privateHosts: [127.0.0.1] } }\n');
    const env = { EGRESS_ALLOW_HOSTS: '127.0.0.1', TOOLYARD_CONFIG: config };
    toolyard = await startTestCluster({ workers: 0, env });
    agent = new Agent(toolyard.gateways[0]?.url ?? '');
  });
  afterAll(async () => {
    await toolyard.close();
    site.closeAllConnections();
    site.close();
    rmSync(folder, { recursive: true });
  });

  /** A worker that is killed later, and until then the only one. */
  const startVictim = async () => {
    const others = toolyard.workers.slice();
    const victim = await toolyard.worker(SHORT_LEASE);
    for (const worker of others) worker.signal('SIGTERM');
    await Promise.all(others.map((worker) => worker.ended()));
    return victim;
  };
  /** Kills the worker when a call of it waits for the page, which is answered from then on. */
  const killedInACall = async (victim: AppProcess) => {
    await new Promise<void>((resolve) => (onRequest = () => resolve()));
    victim.signal('SIGKILL');
    await victim.ended();
    onRequest = answer;
  };

  it('runs the reads of a killed worker again elsewhere: all of them complete [DX-03]', async () => {
    const folder = join(toolyard.workspaceRoot, 'default', 'default');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'big.txt'), 'a line of text\n'.repeat(500_000));

    const killed = killedInACall(await startVictim());
    const fetching = await agent.accepted('web_fetch', { url: page });
    const reads = await Promise.all(
      Array.from({ length: 60 }, () => agent.accepted('file_read', { path: 'big.txt', offset: 499_999, limit: 1 })),
    );
    await killed;
    await toolyard.worker();

    // Calls that the victim had fetched but not begun also start about a lease later.
    const calls = await Promise.all([fetching, ...reads].map(({ id }) => agent.ended(id)));
    expect(calls.map((call) => call.outcome)).toEqual(calls.map(() => 'completed'));
    expect(calls[0]?.attempt).toBeGreaterThan(1);
  });

  it('ends the shell call of a killed worker as unknown and never runs it again [CC-37, DX-03]', async () => {
    const victim = await startVictim();
    const { body } = await agent.submit('shell', { command: 'echo once >> ran.txt; echo begun; sleep 30' });
    await eventually(async () => (await agent.get(`/v1/calls/${body.id}`)).body.status === 'running', 'the shell to run');
    await eventually(async () => (await agent.events(body.id)).some(({ type }) => type === 'call.update'), 'the command to have begun');
    victim.signal('SIGKILL');
    await victim.ended();
    await toolyard.worker();

    const call = await agent.ended(body.id);
    expect(call).toMatchObject({ outcome: 'unknown', error: { code: 'outcome_unknown' }, attempt: 1, result: { isError: true } });
    await expectProved(body.id, 1);
    const after = await agent.run('shell', { command: 'cat ran.txt' });
    expect(after.result?.content).toEqual([{ type: 'text', text: 'once\n' }]);
  });

  it('ends the file_write of a killed worker as unknown and never writes again, after any other writes [DX-03]', async () => {
    const folder = join(toolyard.workspaceRoot, 'default', 'default');
    // Another process holds the lock of the file, with a time in the future: the write has begun and waits.
    const name = createHash('sha256')
      .update(`${statSync(folder).ino}/written.txt`)
      .digest('hex')
      .slice(0, 32);
    const lock = join(dirname(folder), '~locks', `default.${name}`);
    mkdirSync(dirname(lock), { recursive: true });
    writeFileSync(lock, 'of another process');
    utimesSync(lock, new Date(Date.now() + 3_600_000), new Date(Date.now() + 3_600_000));
    const victim = await startVictim();
    const { body } = await agent.submit('file_write', { path: 'written.txt', content: 'by the lost worker' });
    await eventually(async () => (await agent.get(`/v1/calls/${body.id}`)).body.status === 'running', 'the write to run');
    victim.signal('SIGKILL');
    await victim.ended();
    rmSync(lock);
    writeFileSync(join(folder, 'written.txt'), 'by another process');
    await toolyard.worker();
    const call = await agent.ended(body.id);
    expect(call).toMatchObject({ outcome: 'unknown', error: { code: 'outcome_unknown', retryable: false }, attempt: 1 });
    expect(readFileSync(join(folder, 'written.txt'), 'utf8')).toBe('by another process');
  });

  it('gives each of 1,000 calls exactly one End, and each Start its result, while workers are killed repeatedly [DX-04, EV-03]', async () => {
    const [SHARE, KILLS] = [250, 3];
    // A call may be among those that run at each kill.
    const retry = { maxAttempts: KILLS + 1 };
    const submitShare = async () => {
      const ids: string[] = [];
      for (let n = 0; n < SHARE; n += 50) {
        // Most are over in a moment; one in five runs a program; one amid the share waits for a page.
        const submit = (i: number) => {
          if (n + i === 125) return agent.accepted('web_fetch', { url: page }, { retry });
          return i % 5 === 0 ? agent.accepted('glob', { pattern: '**/*' }, { retry }) : agent.accepted('echo', {}, { retry });
        };
        const calls = await Promise.all(Array.from({ length: 50 }, (_unused, i) => submit(i)));
        ids.push(...calls.map(({ id }) => id));
      }
      return ids;
    };
    for (const worker of toolyard.workers) worker.signal('SIGKILL');
    const shares: Promise<string[]>[] = [];
    for (let kills = 0; kills < KILLS; kills++) {
      const killed = killedInACall(await toolyard.worker(SHORT_LEASE));
      shares.push(submitShare());
      await killed;
    }
    shares.push(submitShare());
    await toolyard.worker();

    const ids = (await Promise.all(shares)).flat();
    const calls = await Promise.all(ids.map((id) => agent.ended(id)));
    expect(calls.map(({ outcome }) => outcome)).toEqual(calls.map(() => 'completed'));
    const histories = await Promise.all(ids.map((id) => agent.events(id)));
    const count = (events: readonly CallEvent[], type: CallEvent['type']) => events.filter((event) => event.type === type).length;
    for (const events of histories) {
      expect(count(events, 'call.end')).toBe(1);
      expect(events.at(-1)?.type).toBe('call.end');
      expect(count(events, 'call.start')).toBe(1 + count(events, 'call.retry'));
    }
    expect(calls.some(({ attempt }) => attempt > 1)).toBe(true);
  });

  /** The End says how many updates there were, also when the reconciler wrote it, and the client finds all of them unaltered. */
  async function expectProved(id: string, updates: number): Promise<void> {
    const client = new ToolyardClient({ baseUrl: agent.url, apiKey: TEST_KEY, WebSocket });
    const events: CallEvent[] = [];
    try {
      for await (const event of client.calls.stream(id)) events.push(event);
    } finally {
      client.close();
    }
    expect(events.at(-1)).toMatchObject({ type: 'call.end', data: { updates: { count: updates } } });
  }
});
