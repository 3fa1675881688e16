import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { PolicySettings, Posture, Quote, ToolDescriptor, ToolTier, WorkerTool } from '#contracts';
import type { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { ScriptedWorker } from '../support/foreign-worker.js';
import { useTenant, type Tenant } from '../support/installation/use-tenant.js';
import { submitted, type PolicyCase } from '../support/policy-case.js';

const SUPERVISED: Posture = { autonomy: 'supervised', permissionMode: 'workspace-write' };

const CLAW: Record<ToolTier, string> = {
  read_only: 'read_file glob_search grep_search WebFetch WebSearch Skill ToolSearch',
  side_effecting: 'write_file edit_file NotebookEdit',
  privileged: 'bash REPL',
};
const OXYDRA: Record<ToolTier, string> = {
  read_only: 'file_read file_search file_list memory_search',
  side_effecting: 'file_write file_edit file_delete web_fetch web_search vault_copyto memory_save memory_update memory_delete',
  privileged: 'shell_exec',
};
const rows = (profile: string, table: Record<ToolTier, string>) =>
  Object.entries(table).flatMap(([tier, names]) => names.split(' ').map((name) => ({ profile, name, tier: tier as ToolTier })));
const TIERS = [...rows('claw', CLAW), ...rows('oxydra', OXYDRA)];

const CODE = ['search_symbols', 'lookup_symbols', 'get_document_symbols', 'goto_definition', 'find_references', 'pattern_search'];

const POLICIES: Record<string, PolicySettings> = {
  claw: { profile: 'claw' },
  oxydra: { profile: 'oxydra' },
  kiro: { profile: 'kiro', tools: ['*', 'switch_to_execution'] },
  crew: { toolsSettings: { agent_crew: { availableAgents: ['reviewer', 'writer-*'], trustedAgents: ['reviewer'] } } },
  wild: { tools: ['*'] },
  git: { tools: ['@git/st*', 'echo'] },
  named: { tools: ['*', 'switch_to_execution'] },
};

let tenant: Tenant;
let agent: Agent;
let builtIn: readonly ToolDescriptor[];

beforeAll(async () => {
  const agents = Object.fromEntries(Object.entries(POLICIES).map(([name, policy]) => [name, { policy }]));
  tenant = await useTenant('policy-tools', {
    sources: [{ kind: 'worker', name: 'git', trust: true }],
    settings: { agents, posture: SUPERVISED },
  });
  ({ agent } = tenant);
  builtIn = (await agent.get<{ tools: ToolDescriptor[] }>('/v1/tools')).body.tools;
});
afterAll(() => tenant?.close());

/** The built-in tool of this name, or with this alias. */
const toolOf = (name: string) => builtIn.find((tool) => tool.name === name || tool.aliases.includes(name));

describe('under the profile of a known agent', () => {
  it.each(TIERS)('gives $name the tier $tier under the profile $profile [K-04, PP-54, PP-60]', async ({ profile, name, tier }) => {
    const sessionId = `reading-${profile}`;
    await agent.request('PUT', `/v1/sessions/${sessionId}`, { posture: { autonomy: 'full', permissionMode: 'read-only' } });
    const known = toolOf(name);
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
      reason: expect.stringContaining(`tool '${known?.name}' requires ${need} permission; current mode`),
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

  it('asks about code_edit if a session asks about changes [TB-132]', async () => {
    const posture = { autonomy: 'supervised', permissionMode: 'prompt' };
    await agent.request('PUT', '/v1/sessions/rewrite', { posture });
    const args = { operation: 'pattern_rewrite', pattern: 'f($X)', replacement: 'g($X)', language: 'typescript' };
    const call = { tool: 'code_edit', arguments: args, agentId: 'kiro', sessionId: 'rewrite' };
    expect((await agent.request('POST', '/v1/calls', call)).body).toMatchObject({ status: 'waiting_approval' });
  });
});

describe('the set of tools of an agent', () => {
  const git = (...names: string[]) => {
    const tools = names.map((name): WorkerTool => ({
      name,
      description: `Does ${name}.`,
      input: { type: 'object' },
      tier: 'read_only',
      effect: 'pure',
    }));
    return ScriptedWorker.ready(tenant.url, tenant.keyOf('main'), 'git', tools, 0);
  };
  const catalog = async (agentId: string) => {
    const { body } = await agent.get<{ tools: ToolDescriptor[] }>(`/v1/tools?agentId=${agentId}`);
    return body.tools.filter(({ available }) => available.ok);
  };
  const names = async (agentId: string) => (await catalog(agentId)).map(({ name }) => name);

  it('computes the tools of an agent for each request: tools of a source appear and disappear without a restart [AV-01, AV-02]', async () => {
    const lists = (...expected: string[]) =>
      eventually(async () => isDeepStrictEqual(await names('git'), expected), `the tools of git to be ${expected.join(', ')}`);
    expect(await names('git')).toEqual(['echo']);
    const builtin = (await catalog('wild')).length;
    const first = await git('status', 'stash', 'log');
    await lists('echo', 'stash', 'status');
    expect(await submitted(agent, { tool: 'log', args: {}, agentId: 'git' })).toMatchObject({ code: 'policy_denied' });
    const all = await catalog('wild');
    expect(all.length).toBe(builtin + 3);
    expect(all.filter((tool) => tool.source === 'git').map(({ name }) => name)).toEqual(['log', 'stash', 'status']);

    first.close();
    const second = await git('status');
    await lists('echo', 'status');
    expect((await catalog('wild')).length).toBe(builtin + 1);
    second.close();
  });

  it('offers a tool that changes the agent itself only by its exact name [AV-10]', async () => {
    expect(await names('wild')).not.toContain('switch_to_execution');
    expect(await names('named')).toContain('switch_to_execution');
    expect(await fate({ tool: 'switch_to_execution', args: {}, agentId: 'wild' })).toMatch(/^403: .*not among this agent's tools/);
  });
});
