import { describe, expect, it } from '@jest/globals';
import { POLICY_PROFILES, type PolicySettings, type Posture } from '#contracts';
import { decide } from './decide.js';
import { resolvePolicy } from './grants/resolve-policy.js';
import { tierOf } from './grants/tool-settings.js';
import { factsOf, SUPERVISED, TOOLS, UNATTENDED } from './testing/call-facts.js';

const aws = (service: string, operation: string, toolsSettings: PolicySettings['toolsSettings'] = {}, posture: Posture = SUPERVISED) =>
  decide(factsOf('aws', { service, operation }, { posture, policy: { toolsSettings } }));
const crew = (roles: readonly unknown[], toolsSettings: PolicySettings['toolsSettings'] = {}, posture: Posture = SUPERVISED) =>
  decide(factsOf('crew', { stages: roles.map((role) => ({ role })) }, { posture, policy: { toolsSettings } }));

describe('operations of services', () => {
  it('runs operations of services that only read or that a glob allows, and asks for others [PP-86]', () => {
    expect(aws('s3api', 'list-buckets').effect).toBe('allow');
    expect(aws('s3api', 'list-buckets', { aws: { autoAllowReadonly: false } }).effect).toBe('ask');
    expect(aws('s3api', 'put-object').effect).toBe('ask');
    for (const glob of ['s3api:put-*', 's3api', 's3*', '*:put-object', '*'])
      expect([glob, aws('s3api', 'put-object', { use_aws: { allowedServices: [glob] } }).effect]).toEqual([glob, 'allow']);
    expect(aws('s3api', 'put-object', { aws: { allowedServices: ['s3', 's3api:get-*'] } }).effect).toBe('ask');
    expect(aws('s3api', 'put-object', { aws: { tier: 'side_effecting' } }).effect).toBe('ask');
    expect(aws('s3api', 'put-object', {}, UNATTENDED).effect).toBe('allow');
  });

  it.each([
    ['iam', 'create-user', 'iam:*'],
    ['iam', 'list-users', 'iam'],
    ['IAM', 'Create-User', 'iam:create-*'],
    [' iam', 'create-user ', 'iam:create-user'],
    ['iam', 'a/b', 'iam:*'],
  ])('denies operations of services by a glob: %s %s by %s [PP-86]', (service, operation, glob) => {
    const settings = { aws: { deniedServices: [glob], allowedServices: ['*'], autoAllow: true } };
    for (const posture of [SUPERVISED, UNATTENDED]) {
      const { effect, reasons } = aws(service, operation, settings, posture);
      expect(effect).toBe('deny');
      expect(reasons.map(({ reason }) => reason).join()).toContain(`matches the denied pattern: ${glob}`);
    }
  });

  it('allows no operation to an agent that is denied for all', () => {
    const policy = resolvePolicy(
      { toolsSettings: { aws: { deniedServices: ['iam'] } } },
      { toolsSettings: { aws: { deniedServices: [] } } },
    );
    expect(policy.toolsSettings['aws']?.deniedServices).toEqual(['iam']);
  });

  it('counts operations as more than reading when the tool excepts them, or when they may write a file', () => {
    expect([aws('vault', 'get-secret-value').effect, aws('sts', 'get-session-token').effect]).toEqual(['ask', 'ask']);
    expect(aws('other', 'get-session-token').effect).toBe('allow');
    const on = (targets: unknown) => decide(factsOf('aws', { service: 's3api', operation: 'get-object', targets }, {})).effect;
    expect([on([]), on(['s3://a/b', 's3://c']), on('s3://a')]).toEqual(['allow', 'allow', 'allow']);
    expect([on(['.aws/cli/alias']), on(['s3://a', 'file']), on('file'), on([1])]).toEqual(['ask', 'ask', 'ask', 'ask']);
  });

  it('decides all operations of a call together', () => {
    const several = (operation: string[]) => decide(factsOf('aws', { service: 'iam', operation }, {}));
    expect([several(['list-a', 'get-b']).effect, several(['list-a', 'put-b']).effect]).toEqual(['allow', 'ask']);
  });
});

describe('agents that a call starts', () => {
  it('refuses agents that are not available, runs trusted ones, and asks for others [PP-87]', () => {
    const settings = { crew: { availableAgents: ['review*', 'writer'], trustedAgents: ['reviewer'] } };
    expect(crew(['reviewer'], settings).effect).toBe('allow');
    expect(crew(['reviewer', 'writer'], settings).effect).toBe('ask');
    expect(crew(['reviewer', 'thief'], settings).reasons).toContainEqual(
      expect.objectContaining({ effect: 'deny', reason: "Agent 'thief' is not available for crew stages" }),
    );
    expect(crew(['thief'], settings, UNATTENDED).effect).toBe('deny');
    expect(crew(['anybody']).effect).toBe('ask');
    expect(crew(['anybody'], {}, UNATTENDED).effect).toBe('allow');
  });
});

describe('the settings of a tool', () => {
  it('reads the tier of a tool from its settings by any of its names; the last setting wins', () => {
    const tier = (...settings: PolicySettings[]) => tierOf(TOOLS.shell, resolvePolicy(...settings));
    expect(tier()).toBe('privileged');
    expect(tier({ toolsSettings: { bash: { tier: 'read_only' } } })).toBe('read_only');
    expect(tier({ toolsSettings: { shell: { tier: 'read_only' }, '*': { tier: 'side_effecting' } } })).toBe('side_effecting');
    expect(
      tier(
        { toolsSettings: { shell: { autoAllow: true }, '*': { tier: 'side_effecting' } } },
        { toolsSettings: { shell: { tier: 'read_only' } } },
      ),
    ).toBe('read_only');
  });

  it('applies denying settings of shell to the other command tools, but no allowing ones', () => {
    const family = { ...TOOLS.aws, pool: 'shell' as const };
    const judged = (toolsSettings: PolicySettings['toolsSettings'], operation: string) =>
      decide({ ...factsOf('aws', { service: 's3api', operation }, { policy: { toolsSettings } }), tool: family }).effect;
    for (const name of ['shell', 'bash', 'execute_bash']) {
      expect(judged({ [name]: { deniedServices: ['s3api'] } }, 'list-buckets')).toBe('deny');
      expect(judged({ [name]: { autoAllowReadonly: false } }, 'list-buckets')).toBe('ask');
      expect(judged({ [name]: { autoAllow: true, allowedServices: ['*'], tier: 'read_only' } }, 'put-object')).toBe('ask');
      expect(tierOf({ ...family, tier: 'read_only' }, resolvePolicy({ toolsSettings: { [name]: { tier: 'privileged' } } }))).toBe(
        'privileged',
      );
    }
  });

  it('applies the settings of a profile to built-in tools only: other tools get no tier by their name [PP-54]', () => {
    const stranger = { ...TOOLS.git_status, name: 'read_file', tier: 'privileged' as const };
    expect(tierOf(stranger, POLICY_PROFILES.claw)).toBe('privileged');
    expect(tierOf({ ...stranger, source: 'builtin' }, POLICY_PROFILES.claw)).toBe('read_only');
  });

  it('runs a tool without a question by its settings, despite which denials hold', () => {
    const policy: PolicySettings = { toolsSettings: { shell: { autoAllow: true } } };
    expect(decide(factsOf('shell', { command: 'make' }, { policy })).effect).toBe('allow');
    expect(decide(factsOf('shell', { command: 'rm -rf /' }, { policy })).effect).toBe('deny');
    expect(decide(factsOf('shell', { command: 'make' }, { policy, grants: { deniedTools: ['shell'] } })).effect).toBe('deny');
  });
});
