import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { LIMITS, PolicyProfile, type Batch, type BatchStrategy, type OnFailure, type PolicySettings, type Problem } from '#contracts';
import type { Agent } from '../support/agent.js';
import { useTenant, type Tenant } from '../support/installation/use-tenant.js';

const POLICIES: Record<string, PolicySettings> = {
  ...Object.fromEntries(PolicyProfile.options.map((profile) => [profile, { profile }])),
  patient: {
    toolsSettings: { shell: { defaults: { timeout_ms: 5_000 } }, 'file_*': { timeoutMs: 1_234 } },
    execution: { onFailure: 'abort' },
  },
  mistaken: { toolsSettings: { shell: { defaults: { timeout_ms: 'soon' } } } },
};

let tenant: Tenant;
let agent: Agent;

beforeAll(async () => {
  const agents = Object.fromEntries(Object.entries(POLICIES).map(([name, policy]) => [name, { policy }]));
  tenant = await useTenant('policy-presets', { settings: { agents } });
  ({ agent } = tenant);
});
afterAll(() => tenant?.close());

const PARALLEL: BatchStrategy = { type: 'parallel', serializeSideEffects: false };
const BATCHES: [PolicyProfile | 'patient', BatchStrategy, OnFailure][] = [
  ['core', { type: 'tiered' }, 'isolate'],
  ['zeroclaw', { type: 'sequential' }, 'isolate'],
  ['claw', { type: 'sequential' }, 'isolate'],
  ['phi', PARALLEL, 'isolate'],
  ['oxydra', { type: 'tiered' }, 'isolate'],
  ['kiro', PARALLEL, 'abort'],
  ['patient', { type: 'tiered' }, 'abort'],
];

describe('a batch that says no strategy', () => {
  it.each(BATCHES)(
    'runs a batch of the agent %s without a strategy by that of its policy [K-09, K-10]',
    async (agentId, strategy, onFailure) => {
      const calls = [{ tool: 'echo', arguments: {} }];
      const submit = (more: object) => agent.request<Batch>('POST', '/v1/batches', { agentId, calls, ...more });
      expect((await submit({})).body).toMatchObject({ strategy, onFailure });
      const said = { strategy: { type: 'batched', size: 2 }, onFailure: 'isolate' };
      expect((await submit(said)).body).toMatchObject(said);
    },
  );
});

/** Parts of a submission that its worker applies. */
async function submitted(agentId: string, tool: string, args: object) {
  const { status, body } = await agent.submit(tool, args, { agentId });
  const [first] = await agent.events(body.id);
  if (status !== 202 || first?.type !== 'call.submitted') throw new Error(`${status}: ${JSON.stringify(body)}`);
  return first.data;
}

const WRITE = { path: 'a', content: 'b' };
/** ms: of a command that says no time, of listing, searching and writing files. */
const TIMES: [string, number | undefined, number, number, number][] = [
  ['core', undefined, 30_000, 30_000, 30_000],
  ['zeroclaw', 60_000, 30_000, 30_000, 30_000],
  ['claw', 600_000, 30_000, 30_000, 30_000],
  ['phi', 120_000, 10_000, 30_000, 30_000],
  ['oxydra', 30_000, 10_000, 20_000, 15_000],
  ['kiro', 600_000, 30_000, 30_000, 30_000],
  ['patient', 5_000, 1_234, 1_234, 1_234],
];

describe('the time that a call may take', () => {
  it.each(TIMES)(
    'gives a call of the agent %s the time of its policy, unless the call sets less [CC-10, EX-27, K-08]',
    async (agentId, command, list, search, write) => {
      const args = async (given: object) => (await submitted(agentId, 'shell', { command: 'ls', ...given })).arguments;
      const runMs = async (tool: string, given: object) => (await submitted(agentId, tool, given)).timeouts.runMs;
      expect(await args({})).toEqual({
        command: 'ls',
        persistent: false,
        background: false,
        ...(command === undefined ? {} : { timeout_ms: command }),
      });
      expect(await args({ timeout: 77 })).toMatchObject({ timeout_ms: 77 });
      expect([await runMs('file_list', {}), await runMs('file_search', { pattern: 'a' })]).toEqual([list, search]);
      expect(await runMs('file_write', WRITE)).toBe(write);
      const { body } = await agent.submit('file_list', {}, { agentId, timeouts: { runMs: 55 } });
      expect((await agent.events(body.id))[0]).toMatchObject({ data: { timeouts: { runMs: 55 } } });
    },
  );

  it('limits the time of a call by a maximum above call and profile [EX-27]', async () => {
    const refused = await agent.request<Problem>('POST', '/v1/calls', { tool: 'shell', arguments: { command: 'ls', timeout_ms: 600_001 } });
    expect([refused.status, refused.body.code]).toEqual([422, 'invalid_arguments']);
    const longer = await agent.request<Problem>('POST', '/v1/calls', {
      tool: 'file_list',
      arguments: {},
      timeouts: { runMs: LIMITS.runMs + 1 },
    });
    expect([longer.status, longer.body.code]).toEqual([422, 'invalid_request']);
  });

  it('checks arguments filled in by an operator for a tool that refuses them', async () => {
    const { status, body } = await agent.request<Problem>('POST', '/v1/calls', {
      tool: 'shell',
      arguments: { command: 'ls' },
      agentId: 'mistaken',
    });
    expect([status, body.code]).toEqual([422, 'invalid_arguments']);
    expect(body.detail).toContain('timeout_ms');
  });
});

describe('arguments that a tool does not know', () => {
  const REFUSED: [string, boolean][] = [
    ['core', true],
    ['claw', true],
    ['zeroclaw', false],
    ['phi', false],
    ['oxydra', false],
    ['kiro', false],
  ];
  it.each(REFUSED)(
    'evaluates unknown arguments under %s: refused is %s; null for an optional one is absent [K-24, VA-05]',
    async (agentId, refused) => {
      const { status, body } = await agent.submit('file_read', { path: 'a', limit: null, x: 1 }, { agentId });
      expect(status).toBe(refused ? 422 : 202);
      if (!refused) expect((await submitted(agentId, 'file_read', { path: 'a', limit: null, x: 1 })).arguments).toEqual(body.arguments);
      if (!refused) expect(body.arguments).not.toHaveProperty('x');
      expect((await agent.submit('file_read', { x: 1 }, { agentId })).status).toBe(422);
    },
  );
});

describe('the text that a model gets of a result', () => {
  const SIZES: [string, number | undefined, string | undefined][] = [
    ['core', undefined, undefined],
    ['oxydra', undefined, 'oxydra'],
    ['phi', 2_162_688, 'phi'],
    ['zeroclaw', 2_162_688, 'zeroclaw'],
    ['claw', 2_162_688, 'claw'],
    ['kiro', 2_162_688, 'kiro'],
  ];
  it.each(SIZES)('limits the text that a model gets of a result under the profile %s [K-06]', async (agentId, resultBytes, profile) => {
    const data = await submitted(agentId, 'echo', {});
    expect([data.resultBytes, data.profile]).toEqual([resultBytes, profile]);
  });
});
