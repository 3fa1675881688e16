import { describe, expect, it } from '@jest/globals';
import { NO_GRANTS, POLICY_PROFILES, type PolicySettings } from '#contracts';
import { decide } from './decide.js';
import { addGrant, alwaysAllow, neverAllow } from './grants/add-grant.js';
import { availability } from './grants/availability.js';
import { resolvePolicy } from './grants/resolve-policy.js';
import { trustOptions } from './grants/trust-options.js';
import { matchesTool } from './patterns/tool-pattern.js';
import { factsOf, TOOLS, WORKSPACE, type Circumstances } from './testing/call-facts.js';

const tools = Object.values(TOOLS);
const BUILTIN = ['echo', 'shell', 'repl', 'powershell', 'file_read', 'file_write', 'web_fetch', 'aws', 'crew'];
const meant = (...patterns: string[]) =>
  tools.filter((tool) => patterns.some((pattern) => matchesTool(pattern, tool))).map(({ name }) => name);
const shell = (command: string, circumstances: Circumstances = {}) => factsOf('shell', { command }, circumstances);

describe('tool patterns', () => {
  it.each([
    [['*'], tools.map(({ name }) => name)],
    [['@builtin'], BUILTIN],
    [['@builtin/'], BUILTIN],
    [['@builtin/*'], BUILTIN],
    [['@builtin/echo'], ['echo']],
    [['@builtin/file_*'], ['file_read', 'file_write']],
    [['@mcp'], ['status']],
    [['@git'], ['status']],
    [['@git/st*'], ['status']],
    [['@git/log'], []],
    [['rea*'], ['file_read']],
    [['fs_*'], ['file_read', 'file_write']],
    [['fs_read', 'read'], ['file_read']],
    [['#agent', '#glob*'], []],
    [['@other', 'nothing', '@', '['], []],
  ])('matches by the tool patterns %j: %j [AV-03, AV-04, AV-05, AV-06, AV-07, PP-71]', (patterns, names) =>
    expect(meant(...patterns)).toEqual(names),
  );

  it('forbids a qualified tool by patterns for its plain name', () => {
    const tool = { ...TOOLS.git_status, name: 'git__status', aliases: [], source: 'git' };
    const policy = resolvePolicy({ exclude: ['status'] });
    expect(availability(tool, policy)).toMatchObject({ ok: false, reason: expect.stringContaining('excluded') });
    expect(availability(tool, resolvePolicy({}), { ...NO_GRANTS, deniedTools: ['status'] })).toMatchObject({ ok: false });
    expect(matchesTool('status', tool)).toBe(false);
  });

  it('matches by wildcards no tool that must be named [AV-10]', () => {
    const tool = { name: 'switch_to_execution', aliases: [], source: 'builtin' };
    expect(['*', '@builtin', '@builtin/*', 'switch*'].some((pattern) => matchesTool(pattern, tool))).toBe(false);
    expect(matchesTool('switch_to_execution', tool)).toBe(true);
  });
});

describe('availability', () => {
  const of = (name: keyof typeof TOOLS, settings: PolicySettings) => availability(TOOLS[name], resolvePolicy(settings));

  it('forbids every command-running tool together with shell, and a single one by its source', () => {
    const repl = { ...TOOLS.shell, name: 'repl', aliases: ['REPL'], pool: 'shell' as const };
    const foreign = { ...repl, source: 'mcp-one' };
    for (const name of ['shell', 'bash', 'execute_bash', 'executeCmd', 'Bash', 'bash*', 'sh*'])
      for (const policy of [resolvePolicy({ exclude: [name] }), resolvePolicy({ exclude: [name], include: ['repl'] })])
        expect([name, availability(repl, policy).ok, availability(foreign, policy).ok]).toEqual([name, false, true]);
    expect(availability(repl, resolvePolicy({ exclude: ['@builtin/shell'] })).ok).toBe(true);
    expect(availability(repl, resolvePolicy({}), { ...NO_GRANTS, deniedTools: ['shell'] }).ok).toBe(false);
    for (const tools of [['shell'], ['bash'], ['sh*']]) expect(availability(repl, resolvePolicy({ tools })).ok).toBe(false);
  });

  it('offers tools by `tools` and `include` without `exclude`, with a reason for each refusal', () => {
    expect(of('file_read', { tools: ['read'] })).toEqual({ ok: true });
    expect(of('shell', { tools: ['read'] })).toEqual({ ok: false, reason: `shell is not among this agent's tools (read)` });
    expect(of('shell', { tools: ['read'], include: ['bash'] }).ok).toBe(true);
    expect(of('shell', { include: ['bash'], exclude: ['@builtin/sh*'] })).toEqual({
      ok: false,
      reason: `shell is excluded from this agent's tools by "@builtin/sh*"`,
    });
    expect(of('echo', { tools: [] }).reason).toContain('(none)');
  });

  it('removes web tools when they are switched off [AV-11]', () => {
    expect(of('web_fetch', { webTools: false }).ok).toBe(false);
    expect(of('file_read', { webTools: false }).ok).toBe(true);
    expect(decide(factsOf('web_fetch', { url: 'https://example.com' }, { policy: { webTools: false } })).effect).toBe('deny');
  });

  it('refuses a call that names an unavailable tool all the same [AV-15]', () => {
    const decision = decide(
      factsOf('echo', {}, { policy: { tools: ['file_*'], allowedTools: ['*'] }, grants: { trustedTools: ['echo'] } }),
    );
    expect(decision).toMatchObject({ effect: 'deny', reasons: [{ rule: 'availability', effect: 'deny' }, { rule: 'posture' }] });
  });

  it('ends the availability of a tool when a person denied it for the session', () =>
    expect(availability(TOOLS.echo, POLICY_PROFILES.core, { ...NO_GRANTS, deniedTools: ['echo'] }).ok).toBe(false));
});

describe('trust', () => {
  it('runs a trusted tool without a question, and states which word trusted it [PP-71]', () => {
    const asked = decide(shell('make'));
    expect(asked.effect).toBe('ask');
    const byConfig = decide(shell('make', { policy: { allowedTools: ['shell*'] } }));
    expect(byConfig.effect).toBe('allow');
    expect(byConfig.reasons.filter(({ effect }) => effect === 'ask').map(({ satisfiedBy }) => satisfiedBy)).toEqual(
      asked.reasons.filter(({ effect }) => effect === 'ask').map(() => 'allowedTools: shell*'),
    );
    expect(decide(shell('make', { grants: addGrant(NO_GRANTS, { grants: alwaysAllow(TOOLS.shell) }) })).effect).toBe('allow');
  });

  it('trusts a tool of one source without trusting a tool of the same name of another', () => {
    const from = (source: string) => ({
      ...TOOLS.git_status,
      tier: 'privileged' as const,
      name: 'deploy',
      aliases: [`${source}__deploy`],
      source,
    });
    const asks = (tool: ReturnType<typeof from>, grants: typeof NO_GRANTS) => decide({ ...factsOf('git_status', {}), tool, grants }).effect;
    const grants = addGrant(NO_GRANTS, { grants: alwaysAllow(from('ours')) });
    expect(grants.trustedTools).toEqual(['@ours/deploy']);
    expect([asks(from('ours'), grants), asks(from('theirs'), grants)]).toEqual(['allow', 'ask']);
    expect(asks({ ...from('ours'), name: 'ours__deploy', aliases: [] }, grants)).toBe('allow');
    // A name alone does not identify the source of the tool.
    expect(asks(from('ours'), { ...NO_GRANTS, trustedTools: ['deploy'] })).toBe('ask');
    expect(addGrant(NO_GRANTS, { grants: neverAllow({ name: 'ours__deploy', source: 'ours' }) }).deniedTools).toEqual(['@ours/deploy']);
  });

  it('denies for good after a person denied for the session [PP-72]', () => {
    const grants = addGrant(NO_GRANTS, { grants: neverAllow(TOOLS.shell) });
    const decision = decide(shell('ls', { grants, policy: { allowedTools: ['*'] } }));
    expect(decision.effect).toBe('deny');
    expect(decision.reasons[0]?.reason).toContain('Tool was denied by user');
  });

  it('lifts no denial by trust in tools and in arguments [PP-72]', () => {
    const policy = { commands: { deniedCommands: ['make'], allowedCommands: ['.*'] }, allowedTools: ['*'] };
    expect(decide(shell('make', { policy, grants: { trustedTools: ['shell'], allowedCommands: ['make'] } })).effect).toBe('deny');
  });

  it('asks for privileged tools by the gate in every mode, trusted or not [PP-61]', () => {
    const gated = (permissionMode: 'allow' | 'danger-full-access') =>
      decide(shell('ls', { policy: { gatePrivileged: true }, posture: { autonomy: 'full', permissionMode } })).effect;
    expect([gated('allow'), gated('danger-full-access')]).toEqual(['ask', 'ask']);
    expect(decide(shell('ls', { posture: { autonomy: 'full', permissionMode: 'danger-full-access' } })).effect).toBe('allow');
    expect(decide(factsOf('echo', {}, { policy: { gatePrivileged: true } })).effect).toBe('allow');
  });
});

describe('trust options', () => {
  it('offers trust in a command, its first argument and its program, as anchored patterns [PP-79]', () => {
    const options = trustOptions(shell('git pull --rebase'));
    expect(options.map(({ label, display }) => [label, display])).toEqual([
      ['Full command', 'git pull --rebase'],
      ['Partial command', 'git pull *'],
      ['Base command', 'git *'],
    ]);
    const [full, partial, base] = options.map((option) => addGrant(NO_GRANTS, option));
    const effect = (command: string, grants = NO_GRANTS) => decide(shell(command, { grants })).effect;
    expect([effect('git pull --rebase', full), effect('git pull', full), effect('git pull --rebase; ls', full)]).toEqual([
      'allow',
      'ask',
      'ask',
    ]);
    expect([effect('git pull', partial), effect('git push', partial), effect('git pullx', partial)]).toEqual(['allow', 'ask', 'ask']);
    expect([effect('git push', base), effect('gitx', base)]).toEqual(['allow', 'ask']);
  });

  it('allows exactly the asked call by each trust option', () => {
    for (const command of [
      'git pull --rebase',
      'ls | wc -l',
      'npm test && npm run "a b"',
      'echo (x) > f'.replace('(x)', '"(x) [y]*"'),
      'make -j 4 \\\n all',
      'ls -la',
    ]) {
      const options = trustOptions(shell(command));
      expect(options.length).toBeGreaterThan(0);
      for (const option of options)
        expect([command, option.label, decide(shell(command, { grants: addGrant(NO_GRANTS, option) })).effect]).toEqual([
          command,
          option.label,
          'allow',
        ]);
    }
  });

  it('offers no trust in a first argument that is an option or an absolute path, nor in a general interpreter', () => {
    expect(trustOptions(shell('ls -la')).map(({ id }) => id)).toEqual(['command-full', 'command-base']);
    expect(trustOptions(shell('bash x.sh')).map(({ id }) => id)).toEqual(['command-full', 'command-partial']);
  });

  it.each(['curl x | bash', 'echo $(id)', 'ls\r', 'if', '', 'PATH=/x ls'])('offers no trust options for the dangerous %j', (command) =>
    expect(trustOptions(shell(command))).toEqual([]),
  );

  it('offers trust in the paths of files and the folder around them [PP-78]', () => {
    const facts = factsOf('file_read', { path: ['/w/p/a.txt', '/w/p/b.txt'] });
    expect(trustOptions(facts).map(({ label, grants }) => [label, grants])).toEqual([
      ['Specific paths', { allowedPaths: { read: ['/w/p/a.txt', '/w/p/b.txt'] } }],
      ['Complete directory', { allowedPaths: { read: ['/w/p'] } }],
    ]);
    expect(trustOptions(factsOf('file_read', { path: ['/w/a', '/x/b'] })).map(({ id }) => id)).toEqual(['paths']);
    expect(trustOptions(factsOf('file_write', { path: 'a/b' }))[1]?.grants).toEqual({ allowedPaths: { write: [`${WORKSPACE}/a`] } });
  });

  it('offers trust options with a question only', () => {
    expect(decide(shell('make')).trustOptions).toHaveLength(2);
    expect(decide(shell('make', { policy: { allowedTools: ['*'] } }))).not.toHaveProperty('trustOptions');
  });
});

describe('grants of a session', () => {
  it('adds chosen grants to a session once each; the latest word on a tool wins', () => {
    const trusted = addGrant(addGrant(NO_GRANTS, { grants: { trustedTools: ['a'], allowedCommands: ['x'] } }), {
      grants: { trustedTools: ['a'], allowedPaths: { read: ['/r'] } },
    });
    expect(trusted).toEqual({
      ...NO_GRANTS,
      trustedTools: ['a'],
      allowedCommands: ['x'],
      literalPaths: { allowed: { read: ['/r'], write: [] }, denied: { read: [], write: [] } },
    });
    const denied = addGrant(trusted, { grants: { deniedTools: ['a'] } });
    expect([denied.trustedTools, denied.deniedTools]).toEqual([[], ['a']]);
    expect(NO_GRANTS.trustedTools).toEqual([]);
  });
});

describe('a policy of several settings', () => {
  it('uses the last of several settings for everything, and adds up denials', () => {
    const forAllAgents: PolicySettings = {
      exclude: ['shell'],
      commands: { deniedCommands: ['a'], autoAllowReadonly: true },
      egress: { blockedDomains: ['x'] },
      paths: { roots: [{ path: '/d', access: 'denied' }], trusted: [{ tools: ['*'], allowed: ['a'], denied: ['b'] }] },
    };
    const agent: PolicySettings = {
      exclude: ['echo'],
      tools: ['@builtin'],
      commands: { deniedCommands: ['b'], engines: [] },
      paths: { roots: [{ path: '/e', access: 'read' }], trusted: [] },
    };
    const policy = resolvePolicy(forAllAgents, undefined, agent);
    expect(policy).toMatchObject({
      tools: ['@builtin'],
      exclude: ['shell', 'echo'],
      commands: { deniedCommands: ['a', 'b'], autoAllowReadonly: true, engines: [] },
      egress: { blockedDomains: ['x'] },
      paths: { roots: [{ path: '/d' }, { path: '/e' }], trusted: [{ allowed: [], denied: ['b'] }] },
    });
  });

  it('uses the preset by default, which can be chosen and changed', () => {
    expect(resolvePolicy()).toEqual(POLICY_PROFILES.core);
    expect(resolvePolicy({ profile: 'zeroclaw' })).toEqual(POLICY_PROFILES.zeroclaw);
    expect(resolvePolicy({ profile: 'zeroclaw' }, { paths: { forbidden: ['/x'] } }).paths.forbidden).toEqual(['/x']);
  });
});
