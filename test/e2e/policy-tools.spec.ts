import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { PolicySettings, Posture, Quote, ToolDescriptor, ToolTier } from '#contracts';
import { ToolRegistry, describeTool } from '#tool-sdk';
import type { Agent } from '../support/agent.js';
import { startTestGateway, type TestGateway } from '../support/gateway.js';
import { unknownToolNames, fixtureTool } from '../support/fixture-tools.js';
import { submitted, type PolicyCase } from '../support/policy-case.js';

const SUPERVISED: Posture = { autonomy: 'supervised', permissionMode: 'workspace-write' };

const CLAW: Record<ToolTier, string> = {
  read_only: 'read_file glob_search grep_search WebFetch WebSearch Skill ToolSearch Sleep SendUserMessage StructuredOutput',
  side_effecting: 'write_file edit_file TodoWrite NotebookEdit Config',
  privileged: 'bash Agent REPL PowerShell',
};
const OXYDRA: Record<ToolTier, string> = {
  read_only: 'file_read file_search file_list memory_search',
  side_effecting: 'file_write file_edit file_delete web_fetch web_search vault_copyto memory_save memory_update memory_delete',
  privileged: 'shell_exec',
};
const rows = (profile: string, table: Record<ToolTier, string>) =>
  Object.entries(table).flatMap(([tier, names]) => names.split(' ').map((name) => ({ profile, name, tier: tier as ToolTier })));
const TIERS = [...rows('claw', CLAW), ...rows('oxydra', OXYDRA)];

/** What kiro runs without approval; `summary` is of sub-agents only. `introspect` only reads, which no agent is asked about. */
const KIRO = ['task', 'session'];
const CODE = ['search_symbols', 'lookup_symbols', 'get_document_symbols', 'goto_definition', 'find_references', 'pattern_search'];
const SHELL_ALIASES = ['Bash', 'bash', 'shell_exec', 'execute_bash', 'execute_cmd', 'executeCmd'];

const POLICIES: Record<string, PolicySettings> = {
  claw: { profile: 'claw' },
  oxydra: { profile: 'oxydra' },
  kiro: { profile: 'kiro', tools: ['*', 'switch_to_execution'] },
  cloud: { toolsSettings: { aws: { allowedServices: ['s3api:put-*'], deniedServices: ['iam:*'] } } },
  careful: { toolsSettings: { use_aws: { autoAllowReadonly: false } } },
  crew: { toolsSettings: { agent_crew: { availableAgents: ['reviewer', 'writer-*'], trustedAgents: ['reviewer'] } } },
  'no-shell': { exclude: ['shell'] },
  ...Object.fromEntries(SHELL_ALIASES.map((name) => [`no-${name}`, { exclude: [name] }])),
  'claude-code-only': { tools: ['Bash', 'Read'] },
  'other-shells': { exclude: ['@builtin/shell'] },
  wild: { tools: ['*'] },
  git: { tools: ['@git/st*', 'echo'] },
  named: { tools: ['*', 'switch_to_execution'] },
};

let gateway: TestGateway;
let agent: Agent;

beforeAll(async () => {
  const free = await unknownToolNames([...TIERS.map(({ name }) => name), ...KIRO, 'agent_crew']);
  const crew = fixtureTool({ name: 'agent_crew', subjects: [{ kind: 'agent', argument: 'stages', field: 'role' }] });
  const tools = free.map((name) => (name === 'agent_crew' ? crew : fixtureTool({ name })));
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

  it('gives an agent without shell no other built-in tool that runs commands, by whatever name shell is excluded', async () => {
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

/** Of a call that is let in, what it waits for; else why it is not. */
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

describe('agents that a call would start', () => {
  const crew = (...roles: string[]) => {
    const stages = roles.map((role) => ({ name: role, role, prompt_template: 'Do {task}.' }));
    return { tool: 'agent_crew', args: { task: 'release', stages }, agentId: 'crew' };
  };

  it('runs trusted agents of a call, asks a person about available ones, and refuses others [PP-87]', async () => {
    expect(await fate(crew('reviewer'))).toBe('queued');
    expect(await fate(crew('reviewer', 'writer-1'))).toBe('waiting_approval');
    expect(await fate(crew('reviewer', 'thief'))).toMatch(/^403: .*Agent 'thief' is not available for crew stages/);
  });
});

describe('tools that a known agent runs without approval', () => {
  it.each(KIRO)('runs %s without asking for an agent of its profile, and only for that [PP-88]', async (tool) => {
    expect(await fate({ tool, args: {}, agentId: 'kiro' })).toBe('queued');
    expect(await fate({ tool, args: {}, agentId: 'named' })).toBe('waiting_approval');
  });

  it('runs introspect without asking for the agent kiro [PP-88]', async () => {
    expect(await fate({ tool: 'introspect', args: {}, agentId: 'kiro' })).toBe('queued');
  });

  it('runs switch_to_execution without asking for the agent kiro [PP-88]', async () => {
    expect(await fate({ tool: 'switch_to_execution', args: { plan: 'Mend the login.' }, agentId: 'kiro' })).toBe('queued');
  });

  it.each(CODE)('runs code with the operation %s without asking for the agent kiro [PP-88]', async (operation) => {
    const args = { operation, symbol_name: 'a', symbols: ['a'], pattern: 'a', language: 'typescript' };
    expect(await fate({ tool: 'code', args, agentId: 'kiro' })).toBe('queued');
  });

  it('asks about code_edit where a session asks for changes [TB-132]', async () => {
    const posture = { autonomy: 'supervised', permissionMode: 'prompt' };
    await agent.request('PUT', '/v1/sessions/rewrite', { posture });
    const args = { operation: 'pattern_rewrite', pattern: 'f($X)', replacement: 'g($X)', language: 'typescript' };
    const call = { tool: 'code_edit', arguments: args, agentId: 'kiro', sessionId: 'rewrite' };
    expect((await agent.request('POST', '/v1/calls', call)).body).toMatchObject({ status: 'waiting_approval' });
  });
});

describe('the set of tools of an agent', () => {
  const git = (...names: string[]): ToolDescriptor[] =>
    names.map((name) =>
      describeTool({ name, description: `Does ${name}.`, source: 'git', input: { type: 'object' }, tier: 'read_only', effect: 'pure' }),
    );
  const catalog = async (agentId: string) => {
    const { body } = await agent.get<{ tools: ToolDescriptor[] }>(`/v1/tools?agentId=${agentId}`);
    return body.tools.filter(({ available }) => available.ok);
  };
  const names = async (agentId: string) => (await catalog(agentId)).map(({ name }) => name);

  it('computes the tools of an agent for each request: those that a source adds or removes come or go without a restart [AV-01, AV-02]', async () => {
    let tools = git('status', 'stash', 'log');
    let changed = () => {};
    const source = {
      name: 'git',
      list: () => tools,
      call: async () => 'done',
      onChange: (listener: () => void) => {
        changed = listener;
        return () => {};
      },
      close: async () => {},
    };
    expect(await names('git')).toEqual(['echo']);
    const builtin = (await catalog('wild')).length;
    gateway.app.get(ToolRegistry).add(source);
    expect(await names('git')).toEqual(['echo', 'stash', 'status']);
    expect(await submitted(agent, { tool: 'log', args: {}, agentId: 'git' }).catch(String)).toMatchObject({ code: 'policy_denied' });
    const all = await catalog('wild');
    expect(all.length).toBe(builtin + 3);
    expect(all.filter((tool) => tool.source === 'git').map(({ name }) => name)).toEqual(['log', 'stash', 'status']);

    tools = git('status');
    changed();
    expect(await names('git')).toEqual(['echo', 'status']);
    expect((await catalog('wild')).length).toBe(builtin + 1);
  });

  it('offers a tool that changes what the agent is only where its name stands [AV-10]', async () => {
    expect(await names('wild')).not.toContain('switch_to_execution');
    expect(await names('named')).toContain('switch_to_execution');
    expect(await fate({ tool: 'switch_to_execution', args: {}, agentId: 'wild' })).toMatch(/^403: .*not among this agent's tools/);
  });
});
