import { beforeAll, describe, expect, it } from '@jest/globals';
import type { PermissionMode, Posture, ToolDescriptor, ToolTier } from '#contracts';
import type { Agent } from '../../support/agent.js';
import type { PolicyAgents } from '../../support/policy-places.js';
import { expectDecision, literally, type Expected } from '../../support/policy-case.js';

/** Harmless calls, one of each tier. */
const CALLS: Record<ToolTier, { tool: string; args: Record<string, unknown> }> = {
  read_only: { tool: 'file_list', args: {} },
  side_effecting: { tool: 'file_write', args: { path: 'a', content: 'b' } },
  privileged: { tool: 'shell', args: { command: 'pwd' } },
};
const TIERS: ToolTier[] = ['read_only', 'side_effecting', 'privileged'];

const RUNS: Expected = { runs: '' };
const needs = (tool: string, need: PermissionMode, mode: PermissionMode): Expected => ({
  denied: literally(`tool '${tool}' requires ${need} permission; current mode is ${mode}`),
});
const escalates = (tool: string, mode: PermissionMode, need: PermissionMode): Expected => ({
  asks: literally(`tool '${tool}' requires approval to escalate from ${mode} to ${need}`),
});
const readOnly = (tool: string): Expected => ({ denied: literally(`Read-only mode: cannot perform '${tool}'`) });

/** Decision of each posture about a read, a write and a command. */
const TABLE: [Posture['autonomy'], PermissionMode, [Expected, Expected, Expected]][] = [
  ['full', 'read-only', [RUNS, needs('file_write', 'workspace-write', 'read-only'), needs('shell', 'danger-full-access', 'read-only')]],
  ['full', 'workspace-write', [RUNS, RUNS, escalates('shell', 'workspace-write', 'danger-full-access')]],
  ['full', 'danger-full-access', [RUNS, RUNS, RUNS]],
  ['full', 'prompt', [RUNS, escalates('file_write', 'prompt', 'workspace-write'), escalates('shell', 'prompt', 'danger-full-access')]],
  ['full', 'allow', [RUNS, RUNS, RUNS]],
  [
    'supervised',
    'read-only',
    [RUNS, needs('file_write', 'workspace-write', 'read-only'), needs('shell', 'danger-full-access', 'read-only')],
  ],
  ['supervised', 'workspace-write', [RUNS, RUNS, escalates('shell', 'workspace-write', 'danger-full-access')]],
  ['supervised', 'danger-full-access', [RUNS, RUNS, { asks: /./ }]],
  ['supervised', 'allow', [RUNS, RUNS, RUNS]],
  ['read_only', 'read-only', [RUNS, readOnly('file_write'), readOnly('shell')]],
  ['read_only', 'workspace-write', [RUNS, readOnly('file_write'), readOnly('shell')]],
  ['read_only', 'danger-full-access', [RUNS, readOnly('file_write'), readOnly('shell')]],
  ['read_only', 'prompt', [RUNS, readOnly('file_write'), readOnly('shell')]],
  ['read_only', 'allow', [RUNS, readOnly('file_write'), readOnly('shell')]],
];

export const POSTURE_AGENTS: PolicyAgents = { gated: { policy: { gatePrivileged: true } } };

/** Contract: decisions by the posture of a session about the tiers of tools. */
export function posturesContract(started: () => Agent): void {
  describe('the posture of a session', () => {
    let agent: Agent;
    beforeAll(() => {
      agent = started();
    });

    const session = async (posture: Posture) => {
      const sessionId = `${posture.autonomy}-${posture.permissionMode}`;
      expect((await agent.request('PUT', `/v1/sessions/${sessionId}`, { posture })).status).toBe(200);
      return sessionId;
    };

    it.each(TABLE)(
      'answers %s with %s to a read, a write and a command by their requirements [K-03, PP-50, PP-51, PP-52, PP-100]',
      async (autonomy, permissionMode, expected) => {
        const sessionId = await session({ autonomy, permissionMode });
        for (const [index, tier] of TIERS.entries()) {
          const outcome = expected[index];
          if (outcome !== undefined) await expectDecision(agent, { ...CALLS[tier], sessionId }, outcome);
        }
      },
    );

    it.each(['danger-full-access', 'allow', 'workspace-write'] as const)(
      'asks with %s for every privileged call if those are gated, and for no other [PP-61]',
      async (permissionMode) => {
        const sessionId = await session({ autonomy: 'full', permissionMode });
        const gated = { sessionId, agentId: 'gated' };
        await expectDecision(
          agent,
          { ...CALLS.privileged, ...gated },
          { asks: 'shell is privileged, and the policy has a person confirm' },
        );
        await expectDecision(agent, { ...CALLS.side_effecting, ...gated }, RUNS);
        if (permissionMode !== 'workspace-write') await expectDecision(agent, { ...CALLS.privileged, sessionId }, RUNS);
      },
    );

    it('refuses a denied call by the posture without asking a person [PP-53]', async () => {
      const sessionId = await session({ autonomy: 'full', permissionMode: 'read-only' });
      const { call } = await expectDecision(
        agent,
        { ...CALLS.side_effecting, sessionId },
        needs('file_write', 'workspace-write', 'read-only'),
      );
      expect((await agent.events(call.id)).map(({ type }) => type)).toEqual(['call.submitted', 'call.end']);
      expect(call.approval).toBeUndefined();
    });

    it('applies the catalog’s tier to tools', async () => {
      const { body } = await agent.get<{ tools: ToolDescriptor[] }>('/v1/tools');
      const tierOf = Object.fromEntries(body.tools.map(({ name, tier }) => [name, tier]));
      expect(tierOf).toMatchObject({
        file_read: 'read_only',
        file_list: 'read_only',
        file_search: 'read_only',
        glob: 'read_only',
        file_write: 'side_effecting',
        file_edit: 'side_effecting',
        web_fetch: 'side_effecting',
        shell: 'privileged',
      });
    });
  });
}
