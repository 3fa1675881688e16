import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  Autonomy,
  CommandEngine,
  Decision,
  PermissionMode,
  PolicyProfile,
  PolicySettings,
  SessionGrants,
  ToolTier,
  type GrantChange,
  type ToolSettings,
} from '#contracts';
import type { CallFacts } from './call-facts.js';
import { decide } from './decide.js';
import { addGrant } from './grants/add-grant.js';
import { availability } from './grants/availability.js';
import { resolvePolicy } from './grants/resolve-policy.js';
import { settingsOf } from './grants/tool-settings.js';
import { TOOLS, WORKSPACE } from './testing/call-facts.js';
import { anyText } from '../../../test/support/any-text.js';

const words = (...texts: string[]) => fc.array(fc.constantFrom(...texts), { maxLength: 3 });
const command = fc.oneof(
  fc
    .array(
      fc.constantFrom(
        'ls',
        'git status',
        'git push',
        'rm x',
        'rm -rf /',
        'cat /etc/passwd',
        'curl https://a.example.com',
        'echo $(id)',
        'cp a .git/config',
        '.npmrc',
        '&&',
        '|',
        ';',
        '>',
        'f',
        '"',
        '$X',
        'sudo',
        '\n',
      ),
      { maxLength: 6 },
    )
    .map((parts) => parts.join(' ')),
  anyText({ maxLength: 60 }),
);
const path = fc.oneof(
  fc.constantFrom('a', 'src/a', '.git/config', 'src/secret/x', '/etc/passwd', '../x', '~/.ssh/id', `${WORKSPACE}/a`, '/shared/a', '..%2f'),
  anyText({ maxLength: 40 }),
);
const url = fc.oneof(
  fc.constantFrom('https://a.example.com/', 'http://127.0.0.1/', 'file:///x', 'https://user@b.org'),
  fc.webUrl(),
  fc.string({ maxLength: 30 }),
);
const patterns = words('*', 'shell', 'file_*', '@builtin', '@git/x', '#a', '[', 'read');
const expressions = words('.*', 'git .*', 'ls( .*)?', '(', 'rm .*', '[a');
const paths = words('src', '.git', '/etc', '**/secret', `${WORKSPACE}/a`, '[', '/');
const domains = words('*', 'example.com', '*.org', '');
const services = words('s3', 's3:*', 'iam:create-*', '*', '[');
const agents = words('reviewer', 'w*', '*');
const toolSettings = fc.record(
  {
    tier: fc.constantFrom(...ToolTier.options),
    autoAllow: fc.boolean(),
    allowedServices: services,
    deniedServices: services,
    autoAllowReadonly: fc.boolean(),
    availableAgents: agents,
    trustedAgents: agents,
  },
  { requiredKeys: [] },
);
const toolsSettings = fc.dictionary(fc.constantFrom('aws', 'use_*', '*', 'crew', '@builtin/shell'), toolSettings);

const settings: fc.Arbitrary<PolicySettings> = fc.record(
  {
    profile: fc.constantFrom(...PolicyProfile.options),
    tools: patterns,
    include: patterns,
    exclude: patterns,
    allowedTools: patterns,
    gatePrivileged: fc.boolean(),
    webTools: fc.boolean(),
    trustModelApproval: fc.boolean(),
    toolsSettings,
    commands: fc.record(
      {
        engines: fc.subarray([...CommandEngine.options]),
        allowedCommands: expressions,
        deniedCommands: expressions,
        denyByDefault: fc.boolean(),
        enforce: fc.constantFrom('attended', 'always'),
        autoAllowReadonly: fc.boolean(),
        blockHighRisk: fc.boolean(),
      },
      { requiredKeys: [] },
    ),
    paths: fc.record(
      {
        workspaceOnly: fc.boolean(),
        forbidden: paths,
        trusted: fc.array(fc.record({ tools: patterns, allowed: paths, denied: paths }), { maxLength: 2 }),
        outside: fc.constantFrom('ask', 'deny'),
      },
      { requiredKeys: [] },
    ),
    egress: fc.record(
      { mode: fc.constantFrom('default', 'strict', 'none'), allowedDomains: domains, blockedDomains: domains },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: [] },
);
const grants: fc.Arbitrary<SessionGrants> = fc.record({
  trustedTools: words('shell', 'file_read', 'file_write'),
  deniedTools: words('echo', 'web_fetch'),
  allowedPaths: fc.record({ read: paths, write: paths }),
  deniedPaths: fc.record({ read: paths, write: paths }),
  allowedCommands: expressions,
});
const args = fc.oneof(
  fc.record({ command, path, url, working_dir: path, approved: fc.boolean() }, { requiredKeys: [] }),
  fc.record({ command: fc.anything(), path: fc.anything(), url: fc.anything() }),
  fc.record({ path: fc.array(path, { maxLength: 4 }) }),
  fc.record({ service: fc.constantFrom('s3', 'iam', 'IAM', ' iam'), operation: fc.constantFrom('list-x', 'create-user', 'a/b', '') }),
  fc.record({
    stages: fc.array(fc.oneof(fc.record({ role: fc.constantFrom('reviewer', 'writer', '') }), fc.anything()), { maxLength: 3 }),
  }),
);
const posture = fc.record({ autonomy: fc.constantFrom(...Autonomy.options), permissionMode: fc.constantFrom(...PermissionMode.options) });
const tool = fc.constantFrom(...Object.values(TOOLS));

const strictness = { allow: 0, ask: 1, deny: 2 };
const strictnessOf = (facts: CallFacts) => strictness[decide(facts).effect];
const situation = fc.record({ tool, args, posture, settings, grants });
type Situation = {
  tool: CallFacts['tool'];
  args: Record<string, unknown>;
  posture: CallFacts['posture'];
  settings: PolicySettings;
  grants: SessionGrants;
};
const factsOf = ({ tool, args, posture, settings, grants }: Situation): CallFacts => ({
  tool,
  args,
  posture,
  policy: resolvePolicy(settings),
  grants,
  workspaceRoot: WORKSPACE,
});

/** The situation with more said about its tool, as the last word. */
function withSaid(it: Situation, change: (before: ToolSettings) => ToolSettings): Situation {
  const before = settingsOf(it.tool, resolvePolicy(it.settings));
  const said = { [`@${it.tool.source}/${it.tool.name}*`]: change(before) };
  return { ...it, settings: { ...it.settings, toolsSettings: { ...it.settings.toolsSettings, ...said } } };
}

const more = { numRuns: 1_500 };

describe('every decision', () => {
  it('returns a valid decision without throwing, the strictest of all unsatisfied answers [PP-70]', () => {
    fc.assert(
      fc.property(situation, (it) => {
        const decision = decide(factsOf(it));
        expect(Decision.parse(decision)).toEqual(decision);
        const open = decision.reasons
          .filter(({ effect, satisfiedBy }) => effect !== 'ask' || satisfiedBy === undefined)
          .map(({ effect }) => strictness[effect]);
        expect(strictness[decision.effect]).toBe(Math.max(0, ...open));
        expect(decision.reasons.some(({ effect, satisfiedBy }) => effect === 'deny' && satisfiedBy !== undefined)).toBe(false);
      }),
      more,
    );
  });

  it('decides the same for the same facts', () => {
    fc.assert(
      fc.property(situation, (it) => expect(decide(factsOf(it))).toEqual(decide(structuredClone(factsOf(it))))),
      { numRuns: 300 },
    );
  });

  it('denies despite any trust [PP-70]', () => {
    const trust: GrantChange = {
      trustedTools: Object.keys(TOOLS),
      allowedPaths: { read: ['/'], write: ['/'] },
      allowedCommands: ['[\\s\\S]*'],
    };
    // Made instead of filtered: one situation in fifteen would be left.
    const withoutDefaultDenials = situation.map(({ settings, grants, ...it }) => {
      const { profile: _profile, commands, paths, ...others } = settings;
      const limits = {
        ...(commands === undefined ? {} : { commands: { ...commands, denyByDefault: false } }),
        ...(paths === undefined ? {} : { paths: { ...paths, outside: 'ask' as const } }),
      };
      return { ...it, settings: { ...others, ...limits }, grants: { ...grants, deniedTools: [] } };
    });
    fc.assert(
      fc.property(withoutDefaultDenials, (it) => {
        if (decide(factsOf(it)).effect !== 'deny') return;
        const trusted = { ...it, settings: { ...it.settings, allowedTools: ['*'] }, grants: addGrant(it.grants, { grants: trust }) };
        expect(decide(factsOf(trusted)).effect).toBe('deny');
      }),
      more,
    );
  });

  it('decides at least as strictly with more denials', () => {
    const denials: fc.Arbitrary<(it: Situation) => Situation> = fc.oneof(
      patterns.map((exclude) => (it: Situation) => ({
        ...it,
        settings: { ...it.settings, exclude: [...(it.settings.exclude ?? []), ...exclude] },
      })),
      expressions.map((more) => (it: Situation) => ({
        ...it,
        settings: {
          ...it.settings,
          commands: { ...it.settings.commands, deniedCommands: [...(it.settings.commands?.deniedCommands ?? []), ...more] },
        },
      })),
      paths.map((more) => (it: Situation) => ({
        ...it,
        grants: {
          ...it.grants,
          deniedPaths: { read: [...it.grants.deniedPaths.read, ...more], write: [...it.grants.deniedPaths.write, ...more] },
        },
      })),
      words('shell', 'file_read', 'echo').map((more) => (it: Situation) => ({
        ...it,
        grants: { ...it.grants, deniedTools: [...it.grants.deniedTools, ...more] },
      })),
      domains.map((more) => (it: Situation) => ({
        ...it,
        settings: {
          ...it.settings,
          egress: { ...it.settings.egress, blockedDomains: [...(it.settings.egress?.blockedDomains ?? []), ...more] },
        },
      })),
      services.map(
        (more) => (it: Situation) => withSaid(it, (before) => ({ deniedServices: [...(before.deniedServices ?? []), ...more] })),
      ),
      fc.constant((it: Situation) => withSaid(it, () => ({ availableAgents: [] }))),
      fc.constant((it: Situation) => ({ ...it, settings: { ...it.settings, gatePrivileged: true } })),
      fc.constant((it: Situation) => ({ ...it, settings: { ...it.settings, webTools: false } })),
      fc.constant((it: Situation) => ({
        ...it,
        settings: { ...it.settings, commands: { ...it.settings.commands, blockHighRisk: true, denyByDefault: true } },
      })),
      fc.constant((it: Situation) => ({
        ...it,
        settings: { ...it.settings, commands: { ...it.settings.commands, engines: [...CommandEngine.options] } },
      })),
      fc.constant((it: Situation) => ({
        ...it,
        settings: { ...it.settings, paths: { ...it.settings.paths, workspaceOnly: true, outside: 'deny' as const } },
      })),
    );
    fc.assert(
      fc.property(situation, denials, (it, deny) => {
        expect(strictnessOf(factsOf(deny(it)))).toBeGreaterThanOrEqual(strictnessOf(factsOf(it)));
      }),
      more,
    );
  });

  it('decides at most as strictly with more grants', () => {
    fc.assert(
      fc.property(situation, grants, (it, more) => {
        const change: GrantChange = {
          trustedTools: more.trustedTools,
          allowedPaths: more.allowedPaths,
          allowedCommands: more.allowedCommands,
        };
        expect(strictnessOf(factsOf({ ...it, grants: addGrant(it.grants, { grants: change }) }))).toBeLessThanOrEqual(
          strictnessOf(factsOf(it)),
        );
      }),
      more,
    );
  });

  it('decides at most as strictly with more tools that run without a question', () => {
    fc.assert(
      fc.property(situation, services, agents, (it, allowedServices, trustedAgents) => {
        const trusting = withSaid(it, (before) => ({
          autoAllow: true,
          autoAllowReadonly: true,
          allowedServices: [...(before.allowedServices ?? []), ...allowedServices],
          trustedAgents: [...(before.trustedAgents ?? []), ...trustedAgents],
        }));
        expect(strictnessOf(factsOf(trusting))).toBeLessThanOrEqual(strictnessOf(factsOf(it)));
      }),
      more,
    );
  });

  it('denies an unavailable tool, and lets no agent enable a generally denied one', () => {
    fc.assert(
      fc.property(situation, settings, (it, agent) => {
        if (!availability(it.tool, resolvePolicy(it.settings)).ok) expect(decide(factsOf(it)).effect).toBe('deny');
        const excluded = !availability(it.tool, resolvePolicy({ tools: ['*'], exclude: it.settings.exclude ?? [] })).ok;
        if (excluded) expect(availability(it.tool, resolvePolicy(it.settings, agent)).ok).toBe(false);
      }),
      { numRuns: 500 },
    );
  });

  it('accepts any valid policy and grants', () => {
    fc.assert(
      fc.property(settings, grants, (settings, grants) => {
        const parsed = PolicySettings.safeParse(settings);
        fc.pre(parsed.success);
        expect(() =>
          decide(
            factsOf({
              tool: TOOLS.shell,
              args: { command: 'ls' },
              posture: { autonomy: 'supervised', permissionMode: 'prompt' },
              settings,
              grants: SessionGrants.parse(grants),
            }),
          ),
        ).not.toThrow();
      }),
      { numRuns: 300 },
    );
  });
});
