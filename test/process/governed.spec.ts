import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { GatewayWarning, Quote } from '#contracts';
import { readGatewayConfig, type GatewayConfig } from '../../apps/gateway/src/platform/gateway.config.js';
import type { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { BOOTSTRAP_KEY, startTestGateway, type TestGateway } from '../support/gateway.js';
import { OPEN_POSTURE } from '../support/test-cluster.js';

const TENANT = 'governed';
const READER = 'reader';
const KEYS: GatewayConfig['keys'] = [
  { id: 'bootstrap', key: BOOTSTRAP_KEY, tenant: TENANT, agents: ['reader'], scopes: ['submit', 'read', 'cancel', 'approve', 'admin'] },
];

const folder = mkdtempSync(join(tmpdir(), 'toolyard-governed-'));
const path = join(folder, 'toolyard.json');
const FIRST_FILE = { tenants: { [TENANT]: { agents: { [READER]: { tools: ['echo', 'file_*'], policy: { exclude: ['file_write'] } } } } } };
const save = (content: unknown) => writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));

function configured(): GatewayConfig {
  const env = {
    TOOLYARD_API_KEY: BOOTSTRAP_KEY,
    TOOLYARD_CONFIG: path,
    REDIS_URL: process.env['TEST_REDIS_URL'],
    GATEWAY_PORT: '0',
    LOG_LEVEL: 'silent',
    ...OPEN_POSTURE,
  };
  return { ...readGatewayConfig(env), keys: KEYS };
}

let gateway: TestGateway;
let agent: Agent;

beforeAll(async () => {
  save(FIRST_FILE);
  const config = { ...configured(), file: { path, read: configured } };
  gateway = await startTestGateway(TENANT, config);
  ({ agent } = gateway);
});

afterAll(async () => {
  await gateway.close();
  rmSync(folder, { recursive: true });
});

describe('a quote', () => {
  it('quotes a thousand calls as their submission then does', async () => {
    const postures = [
      {},
      { permissionMode: 'prompt' },
      { permissionMode: 'read-only' },
      { autonomy: 'supervised', permissionMode: 'workspace-write' },
    ];
    await Promise.all(postures.map((posture, n) => agent.request('PUT', `/v1/sessions/quoted-${n}`, { posture })));
    const call = fc.record({
      tool: fc.constantFrom('echo', 'file_write', 'file_read', 'shell', 'glob', 'web_fetch', 'nothing'),
      arguments: fc.oneof(
        fc.record({ path: fc.constantFrom('a', '../a', '/etc/passwd', '~/.ssh/id'), content: fc.constant('x') }),
        fc.record({ command: fc.constantFrom('ls', 'rm -rf /', 'git push', 'curl x | sh', 'echo $(id)') }),
        fc.record({ url: fc.constantFrom('https://example.com', 'http://127.0.0.1/', 'file:///etc/passwd') }),
        fc.record({ pattern: fc.constant('*') }),
        fc.constant({}),
      ),
      sessionId: fc.constantFrom('quoted-0', 'quoted-1', 'quoted-2', 'quoted-3'),
      agentId: fc.option(fc.constant(READER), { nil: undefined }),
    });
    const compare = async (body: object) => {
      const { body: quote } = await agent.request<Quote>('POST', '/v1/calls:quote', body);
      const { body: answer } = await agent.request<{ id: string; callId?: string }>('POST', '/v1/calls', body);
      const { body: done } = await agent.get(`/v1/calls/${answer.callId ?? answer.id}`);
      expect(quote.valid).toBe(!['not_found', 'invalid_arguments'].includes(done.error?.code ?? ''));
      if (quote.valid) expect(quote.decision).toEqual(done.decision);
      expect(quote.approvalNeeded).toBe(done.status === 'waiting_approval');
    };
    const bodies = fc.sample(call, 1000);
    for (let n = 0; n < bodies.length; n += 20) await Promise.all(bodies.slice(n, n + 20).map(compare));
  });
});

describe('the config file of a running gateway', () => {
  const denied = async () => (await agent.submit('glob', { pattern: '*' })).status;

  it('applies the config file when it changes; a wrong one is rejected, shown by readiness, and the old one stays', async () => {
    expect(await denied()).toBe(202);
    const before = (await agent.submit('glob', { pattern: '*' })).body;
    save({ ...FIRST_FILE, policy: { exclude: ['glob'] } });
    await eventually(async () => (await denied()) === 403, 'the changed policy to hold');
    expect((await agent.get(`/v1/calls/${before.id}`)).body).toMatchObject({ status: 'queued', decision: { effect: 'allow' } });

    save({ ...FIRST_FILE, policy: { exclude: 'glob' } });
    const warnings = async () => (await agent.get<{ warnings?: GatewayWarning[] }>('/readyz')).body.warnings;
    await eventually(async () => (await warnings())?.some(({ code }) => code === 'config_refused'), 'readiness to show the wrong file');
    expect(await denied()).toBe(403);
    expect((await agent.get<string>('/metrics')).body).toContain('toolyard_config_refused 1');

    save(FIRST_FILE);
    await eventually(async () => (await denied()) === 202, 'the mended file to hold');
    expect(await warnings()).toBeUndefined();
  });

  it('reads the config file at once on SIGHUP', async () => {
    save({ ...FIRST_FILE, policy: { exclude: ['glob'] } });
    process.emit('SIGHUP');
    expect(await denied()).toBe(403);
    save(FIRST_FILE);
    process.emit('SIGHUP');
    expect(await denied()).toBe(202);
  });
});
