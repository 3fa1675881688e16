import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { NO_GRANTS, type GrantChange, type PolicySettings, type SessionGrants } from '#contracts';
import { quoteExpression } from '#patterns';
import { decide } from './decide.js';
import { addGrant } from './grants/add-grant.js';
import type { RuleResult } from './rule.js';
import { agentRule } from './rules/agent.rule.js';
import { commandDenialRule } from './rules/command-denial.rule.js';
import { egressRule } from './rules/egress.rule.js';
import { operationRule } from './rules/operation.rule.js';
import { pathRule } from './rules/path.rule.js';
import { riskArgumentsOf } from './risk-arguments/risk-arguments.js';
import { factsOf, SUPERVISED, TOOLS, UNATTENDED, WORKSPACE, type Circumstances } from './testing/call-facts.js';

const STRICTNESS = { allow: 0, ask: 1, deny: 2 } as const;
const RULES = { path: pathRule, egress: egressRule, operation: operationRule, agent: agentRule, denial: commandDenialRule };

/** Strictest result of a single evaluator; `allow` without a result. */
function answerOf(rule: keyof typeof RULES, tool: keyof typeof TOOLS, args: Record<string, unknown>, circumstances: Circumstances = {}) {
  const facts = factsOf(tool, args, circumstances);
  const answers: readonly RuleResult[] = RULES[rule](facts, riskArgumentsOf(facts));
  return answers.reduce<RuleResult['effect']>((worst, { effect }) => (STRICTNESS[effect] > STRICTNESS[worst] ? effect : worst), 'allow');
}
const strict = (effect: RuleResult['effect']) => STRICTNESS[effect];

const posture = fc.constantFrom(SUPERVISED, UNATTENDED);
const RUNS = { numRuns: 400 };

describe('the evaluator of paths', () => {
  const name = fc.stringMatching(/^[a-c][a-c.*[\]{},]{0,4}$/);
  const relative = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join('/'));
  const path = fc.oneof(
    relative,
    relative.map((it) => `/${it}`),
    relative.map((it) => `${WORKSPACE}/${it}`),
  );
  const glob = fc.oneof(path, fc.constantFrom('**', '*', 'a/*', '**/b', '/**', 'a/{b,c}', `${WORKSPACE}/a*`));
  const globs = fc.array(glob, { maxLength: 3 });
  const of = (path: string, circumstances: Circumstances) => answerOf('path', 'file_read', { path }, circumstances);
  const settings = fc.record<PolicySettings['paths'] & object>({ outside: fc.constantFrom('ask', 'deny'), trustWorkspace: fc.boolean() });

  it('denies a path that is denied by name and everything below it, despite any trust', () => {
    fc.assert(
      fc.property(path, relative, globs, posture, (path, below, allowed, posture) => {
        const at = path.startsWith('/') ? path : `${WORKSPACE}/${path}`;
        const grants = {
          allowedPaths: { read: ['**', '/**', ...allowed], write: [] },
          literalPaths: { allowed: { read: [at], write: [] }, denied: { read: [at], write: [] } },
        };
        expect([of(path, { grants, posture }), of(`${path}/${below}`, { grants, posture })]).toEqual(['deny', 'deny']);
      }),
      RUNS,
    );
  });

  it('trusts a name and what is below it, never as a pattern', () => {
    fc.assert(
      fc.property(relative, relative, (trusted, path) => {
        const grants = { literalPaths: { allowed: { read: [`/else/${trusted}`], write: [] }, denied: { read: [], write: [] } } };
        const within = path === trusted || path.startsWith(`${trusted}/`);
        expect(of(`/else/${path}`, { grants })).toBe(within ? 'allow' : 'ask');
      }),
      RUNS,
    );
  });

  it('grows no stricter by trusted paths, and no looser by denied ones', () => {
    fc.assert(
      fc.property(path, globs, globs, glob, settings, posture, (path, allowed, denied, more, paths, posture) => {
        const under = (allowed: string[], denied: string[]) =>
          strict(
            of(path, {
              posture,
              policy: { paths },
              grants: { allowedPaths: { read: allowed, write: [] }, deniedPaths: { read: denied, write: [] } },
            }),
          );
        expect(under([...allowed, more], denied)).toBeLessThanOrEqual(under(allowed, denied));
        expect(under(allowed, [...denied, more])).toBeGreaterThanOrEqual(under(allowed, denied));
      }),
      RUNS,
    );
  });

  it('decides the same for every spelling of a path', () => {
    fc.assert(
      fc.property(relative, globs, settings, (path, denied, paths) => {
        const circumstances = { policy: { paths }, grants: { deniedPaths: { read: denied, write: [] } } };
        const written = [`./${path}`, `x/../${path}`, `${WORKSPACE}/${path}`, path.replaceAll('/', '//')];
        for (const other of written) expect(of(other, circumstances)).toBe(of(path, circumstances));
      }),
      RUNS,
    );
  });
});

describe('the evaluator of hosts', () => {
  const label = fc.stringMatching(/^[a-c]{1,3}$/);
  const domain = fc.array(label, { minLength: 1, maxLength: 3 }).map((labels) => `${labels.join('.')}.org`);
  const of = (host: string, egress: PolicySettings['egress'] & object) =>
    answerOf('egress', 'web_fetch', { url: `https://${host}/` }, { policy: { egress } });
  const isUnder = (host: string, base: string) => host === base || host.endsWith(`.${base}`);

  it('allows in strict mode exactly the listed domains and subdomains, and nothing without egress', () => {
    fc.assert(
      fc.property(domain, fc.array(domain, { maxLength: 3 }), (host, allowedDomains) => {
        const listed = allowedDomains.some((it) => isUnder(host, it));
        expect(of(host, { mode: 'strict', allowedDomains })).toBe(listed ? 'allow' : 'deny');
        expect(of(host, { mode: 'strict', allowedDomains: [...allowedDomains, '*'] })).toBe(listed ? 'allow' : 'deny');
        expect(of(host, { mode: 'none', allowedDomains: [...allowedDomains, '*'] })).toBe('deny');
      }),
      RUNS,
    );
  });

  it('denies a blocked domain with its subdomains in every mode, in any spelling', () => {
    fc.assert(
      fc.property(domain, fc.array(label, { maxLength: 2 }), fc.constantFrom('default', 'strict', 'none'), (blocked, sub, mode) => {
        const host = [...sub, blocked].join('.');
        for (const spelt of [host, host.toUpperCase(), `${host}.`])
          expect(of(spelt, { mode, allowedDomains: ['*', host], blockedDomains: [blocked] })).toBe('deny');
      }),
      RUNS,
    );
  });

  it('allows no host that is not public unless it is named as private', () => {
    const numbers = fc.constantFrom('127.0.0.1', '10.1.2.3', '169.254.169.254', '[::1]', 'localhost', '2130706433', '0x7f.1');
    fc.assert(
      fc.property(numbers, fc.constantFrom('default', 'strict'), (host, mode) => {
        expect(of(host, { mode, allowedDomains: ['*', host, '127.0.0.1'] })).toBe('deny');
      }),
    );
  });
});

describe('grants', () => {
  const texts = (...from: string[]) => fc.uniqueArray(fc.constantFrom(...from), { maxLength: 3 });
  const paths = fc.record({ read: texts('/w/a', '/w/**', 'src/*'), write: texts('/w/b', '/w/{a,b}', '**') });
  const change: fc.Arbitrary<GrantChange> = fc.record(
    {
      trustedTools: texts('a', 'b'),
      deniedTools: texts('c', 'd'),
      allowedPaths: paths,
      deniedPaths: paths,
      allowedCommands: texts('x', 'y'),
    },
    { requiredKeys: [] },
  );
  const grants: fc.Arbitrary<SessionGrants> = fc.record({
    trustedTools: texts('a', 'c'),
    deniedTools: texts('b', 'd'),
    allowedPaths: paths,
    deniedPaths: paths,
    allowedCommands: texts('x', 'z'),
  });

  it('adds a grant once, adds no glob, and removes only what is revoked', () => {
    fc.assert(
      fc.property(grants, change, (before, change) => {
        const once = addGrant(before, { grants: change });
        expect(addGrant(once, { grants: change })).toEqual(once);
        expect([once.allowedPaths, once.deniedPaths]).toEqual([before.allowedPaths, before.deniedPaths]);
        for (const tool of before.deniedTools) expect(once.deniedTools.includes(tool)).toBe(change.trustedTools?.includes(tool) !== true);
        for (const path of change.allowedPaths?.write ?? []) expect(once.literalPaths?.allowed.write).toContain(path);
      }),
      RUNS,
    );
  });
});

describe('the evaluator of operations', () => {
  const service = fc.constantFrom('s3', 'iam', 'ec2');
  const operation = fc.constantFrom('list-x', 'create-user', 'delete-all', 'a/b');
  const pattern = fc.oneof(
    fc.tuple(service, operation).map((it) => it.join(':')),
    service,
    fc.constantFrom('*', 's3:*', '*:list-*', 'iam:[a-d]*'),
  );
  const patterns = fc.array(pattern, { maxLength: 3 });
  const of = (service: string, operation: string, aws: (PolicySettings['toolsSettings'] & object)[string], more: Circumstances = {}) =>
    answerOf('operation', 'aws', { service, operation }, { ...more, policy: { toolsSettings: { aws } } });

  it('denies a denied operation in any spelling, despite any permission', () => {
    fc.assert(
      fc.property(service, operation, patterns, posture, (service, operation, allowedServices, posture) => {
        const settings = { allowedServices: ['*', ...allowedServices], deniedServices: [`${service}:${operation}`] };
        for (const spelt of [service, service.toUpperCase(), ` ${service}`])
          expect(of(spelt, operation, settings, { posture })).toBe('deny');
      }),
      RUNS,
    );
  });

  it('keeps strictness under allowed operations, laxness under denied ones, and asks nothing in unattended sessions', () => {
    fc.assert(
      fc.property(service, operation, patterns, patterns, pattern, (service, operation, allowedServices, deniedServices, more) => {
        const under = (allowedServices: string[], deniedServices: string[]) => of(service, operation, { allowedServices, deniedServices });
        expect(strict(under([...allowedServices, more], deniedServices))).toBeLessThanOrEqual(
          strict(under(allowedServices, deniedServices)),
        );
        expect(strict(under(allowedServices, [...deniedServices, more]))).toBeGreaterThanOrEqual(
          strict(under(allowedServices, deniedServices)),
        );
        expect(of(service, operation, { allowedServices, deniedServices }, { posture: UNATTENDED })).not.toBe('ask');
      }),
      RUNS,
    );
  });
});

describe('the evaluator of agents', () => {
  const agent = fc.constantFrom('reviewer', 'writer', 'w', '', 're/viewer');
  const patterns = fc.array(fc.constantFrom('reviewer', 'w*', '*', '?', '{reviewer,writer}'), { maxLength: 3 });
  const of = (roles: string[], crew: (PolicySettings['toolsSettings'] & object)[string], more: Circumstances = {}) =>
    answerOf('agent', 'crew', { stages: roles.map((role) => ({ role })) }, { ...more, policy: { toolsSettings: { crew } } });

  it('denies all agents when one is not available, and allows when each is available and trusted by name', () => {
    fc.assert(
      fc.property(fc.array(agent, { minLength: 1, maxLength: 3 }), patterns, posture, (roles, trustedAgents, posture) => {
        expect(
          of([...roles, 'stranger'], { availableAgents: roles, trustedAgents: ['*', 'stranger', ...trustedAgents] }, { posture }),
        ).toBe('deny');
        expect(of(roles, { availableAgents: roles, trustedAgents: roles }, { posture })).toBe('allow');
        expect(of(roles, { availableAgents: [] }, { posture })).toBe('deny');
      }),
      RUNS,
    );
  });

  it('decides as strictly about several agents as about the strictest of them', () => {
    fc.assert(
      fc.property(fc.array(agent, { minLength: 1, maxLength: 3 }), patterns, patterns, (roles, availableAgents, trustedAgents) => {
        const settings = { availableAgents, trustedAgents };
        expect(strict(of(roles, settings))).toBe(Math.max(...roles.map((role) => strict(of([role], settings)))));
      }),
      RUNS,
    );
  });
});

describe('the evaluators of commands', () => {
  const word = fc.stringMatching(/^[a-z]{1,5}$/);
  const program = word.filter(
    (it) =>
      !/^(?:if|do|in|fi|for|case|esac|then|else|elif|done|while|until|time|eval|exec|trap|set|env|sh|dd|rm|function|select|coproc)$/.test(
        it,
      ),
  );
  const simple = fc.tuple(program, fc.array(word, { maxLength: 3 })).map(([first, rest]) => [first, ...rest].join(' '));
  const chain = (commands: string[], operator: string) => commands.join(operator);
  const operator = fc.constantFrom(' && ', '; ', ' | ', ' || ', '\n');

  it('denies a chain with one denied part in any place and spelling', () => {
    fc.assert(
      fc.property(simple, fc.array(simple, { maxLength: 3 }), fc.nat(3), operator, posture, (denied, others, place, operator, posture) => {
        const policy = { allowedTools: ['*'], commands: { allowedCommands: ['.*'], deniedCommands: [quoteExpression(denied)] } };
        for (const spelt of [
          denied,
          `/usr/bin/${denied}`,
          `'${denied.split(' ')[0]}'${denied.slice(denied.split(' ')[0]?.length)}`,
          `X=1 ${denied}`,
        ]) {
          const command = chain(others.toSpliced(place, 0, spelt), operator);
          expect([command, answerOf('denial', 'shell', { command }, { policy, posture })]).toEqual([command, 'deny']);
        }
      }),
      { numRuns: 150 },
    );
  });

  it('allows a chain without a question exactly if each part is allowed', () => {
    fc.assert(
      fc.property(fc.array(simple, { minLength: 1, maxLength: 3 }), fc.subarray([0, 1, 2]), operator, (parts, allowed, operator) => {
        const allowedCommands = allowed.flatMap((index) => parts[index] ?? []).map(quoteExpression);
        const circumstances: Circumstances = { profile: 'kiro', policy: { commands: { allowedCommands } } };
        const facts = factsOf('shell', { command: chain(parts, operator) }, circumstances);
        const said = decide(facts).reasons.find(({ rule }) => rule === 'command-patterns');
        const all = parts.every((part) => allowedCommands.includes(quoteExpression(part)));
        expect([parts, said?.effect]).toEqual([parts, all ? 'allow' : 'ask']);
      }),
      { numRuns: 150 },
    );
  });

  it('allows no more by a grant that is too large to be matched', () => {
    const grants = { ...NO_GRANTS, allowedCommands: ['(a{1000}){1000}', '('] };
    fc.assert(
      fc.property(simple, (command) => {
        const of = (grants: SessionGrants) => decide(factsOf('shell', { command }, { profile: 'kiro', grants })).effect;
        expect(of(grants)).toBe(of(NO_GRANTS));
      }),
      { numRuns: 50 },
    );
  });
});
