import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { PolicySettings, Posture, Quote, ToolTier } from '#contracts';
import { ToolRegistry } from '#tool-sdk';
import type { Agent } from '../support/agent.js';
import { startTestGateway, type TestGateway } from '../support/gateway.js';
import { fixtureTool, unknownToolNames } from '../support/fixture-tools.js';
import { submitted, type PolicyCase } from '../support/policy-case.js';

const SUPERVISED: Posture = { autonomy: 'supervised', permissionMode: 'workspace-write' };

/** Tools of known agents that are not built in, and one that no worker of the shared installation has. */
const TIERS: { profile: string; name: string; tier: ToolTier }[] = [
  ...['Sleep', 'SendUserMessage', 'StructuredOutput'].map((name) => ({ profile: 'claw', name, tier: 'read_only' as const })),
  ...['TodoWrite', 'Config'].map((name) => ({ profile: 'claw', name, tier: 'side_effecting' as const })),
  ...['Agent', 'PowerShell'].map((name) => ({ profile: 'claw', name, tier: 'privileged' as const })),
];
/** Tools that kiro runs without approval; `summary` is of sub-agents only. `introspect` only reads and never requires approval. */
const KIRO = ['task', 'session'];
const SHELL_ALIASES = ['Bash', 'bash', 'shell_exec', 'execute_bash', 'execute_cmd', 'executeCmd'];

const POLICIES: Record<string, PolicySettings> = {
  claw: { profile: 'claw' },
  kiro: { profile: 'kiro', tools: ['*'] },
  named: { tools: ['*'] },
  cloud: { toolsSettings: { aws: { allowedServices: ['s3api:put-*'], deniedServices: ['iam:*'] } } },
  careful: { toolsSettings: { use_aws: { autoAllowReadonly: false } } },
  'no-shell': { exclude: ['shell'] },
  ...Object.fromEntries(SHELL_ALIASES.map((name) => [`no-${name}`, { exclude: [name] }])),
  'claude-code-only': { tools: ['Bash', 'Read'] },
  'other-shells': { exclude: ['@builtin/shell'] },
  wild: { tools: ['*'] },
};

let gateway: TestGateway;
let agent: Agent;

beforeAll(async () => {
  const free = await unknownToolNames([...TIERS.map(({ name }) => name), ...KIRO]);
  const tools = free.map((name) => fixtureTool({ name }));
  const agents = Object.fromEntries(Object.entries(POLICIES).map(([name, policy]) => [name, { policy }]));
  gateway = await startTestGateway('policy-tools', { agents: { 'policy-tools': agents }, defaultPosture: SUPERVISED }, tools);
  ({ agent } = gateway);
});
afterAll(() => gateway.close());

describe('an agent without shell', () => {
  const offered = async (agentId: string) => {
    const { body } = await agent.get<object>(`/v1/tools?format=openai&agentId=${agentId}`);
    return ['shell', 'repl', 'powershell', 'aws'].filter((name) => JSON.stringify(body).includes(`"name":"${name}"`));
  };

  it('removes all command-running tools from an agent without shell, for any exclusion name of shell', async () => {
    expect(await offered('wild')).toEqual(['shell', 'repl', 'powershell', 'aws']);
    expect(await offered('no-shell')).toEqual([]);
    for (const name of ['Bash', ...(gateway.app.get(ToolRegistry).resolve('shell')?.aliases ?? [])])
      expect([name, ...(await offered(`no-${name}`))]).toEqual([name]);
    expect(await offered('other-shells')).toEqual(['repl', 'powershell', 'aws']);
    expect(await offered('claude-code-only')).toEqual(['shell']);
    const call = { tool: 'repl', arguments: { language: 'bash', code: 'id' }, agentId: 'no-shell' };
    const { body } = await agent.request<Quote>('POST', '/v1/calls:quote', call);
    expect(JSON.stringify(body)).toContain('repl is excluded');
  });
});

describe('under the profile of a known agent', () => {
  it.each(TIERS)('gives $name the tier $tier under the profile $profile [K-04, PP-54, PP-60]', async ({ profile, name, tier }) => {
    const sessionId = `reading-${profile}`;
    await agent.request('PUT', `/v1/sessions/${sessionId}`, { posture: { autonomy: 'full', permissionMode: 'read-only' } });
    const known = gateway.app.get(ToolRegistry).resolve(name);
    const canonical = known?.name ?? name;
    const quoted = await agent.request<Quote>('POST', '/v1/calls:quote', {
      tool: name,
      arguments: known?.examples[0]?.arguments ?? {},
      agentId: profile,
      sessionId,
    });
    const need = { read_only: 'read-only', side_effecting: 'workspace-write', privileged: 'danger-full-access' }[tier];
    expect(quoted.body.decision?.reasons.find(({ rule }) => rule === 'posture')).toEqual({
      axis: 'facts',
      rule: 'posture',
      effect: tier === 'read_only' ? 'allow' : 'deny',
      reason: expect.stringContaining(`tool '${canonical}' requires ${need} permission; current mode`),
    });
  });
});

/** Wait of an admitted call, or the reason of its rejection. */
async function fate(judged: PolicyCase): Promise<string> {
  const { status, body } = await agent.request<{ status: unknown; detail?: string }>('POST', '/v1/calls', {
    tool: judged.tool,
    arguments: judged.args,
    agentId: judged.agentId,
  });
  return status === 202 ? String(body.status) : `${status}: ${body.detail ?? ''}`;
}

describe('operations of services', () => {
  const aws = (agentId: string, service_name: string, operation_name: string) => ({
    tool: 'aws',
    args: { service_name, operation_name, region: 'eu-central-1' },
    agentId,
  });

  it('runs operations of services that only read or are allowed, and asks a person otherwise [PP-86]', async () => {
    expect(await fate(aws('cloud', 's3api', 'list-buckets'))).toBe('queued');
    expect(await fate(aws('cloud', 's3api', 'put-object'))).toBe('queued');
    expect(await fate(aws('cloud', 'ec2', 'run-instances'))).toBe('waiting_approval');
    expect(await fate(aws('careful', 's3api', 'list-buckets'))).toBe('waiting_approval');
  });

  it('refuses denied operations of services with words that a model can mend them by [PP-86]', async () => {
    const { code, call, text } = await submitted(agent, aws('cloud', 'iam', 'list-users'));
    expect([code, call.outcome, call.attempt]).toEqual(['policy_denied', 'denied', 0]);
    expect(text).toBe(
      'Tool use was rejected because the arguments supplied are forbidden: Operation iam:list-users matches the denied pattern: iam:*',
    );
  });
});

describe('tools that a known agent runs without approval', () => {
  it.each(KIRO)('runs %s without a question for an agent of its profile only [PP-88]', async (tool) => {
    expect(await fate({ tool, args: {}, agentId: 'kiro' })).toBe('queued');
    expect(await fate({ tool, args: {}, agentId: 'named' })).toBe('waiting_approval');
  });
});
