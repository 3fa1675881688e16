import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { PolicySettings, Posture, Quote } from '#contracts';
import type { Agent } from '../../support/agent.js';
import type { TestCluster } from '../../support/test-cluster.js';
import type { PolicyAgents, PolicyInstallation } from '../../support/policy-places.js';
import { expectDecision, literally, submitted, textOf, type Expected } from '../../support/policy-case.js';

const SUPERVISED: Posture = { autonomy: 'supervised', permissionMode: 'danger-full-access' };
const FULL: Posture = { autonomy: 'full', permissionMode: 'danger-full-access' };

const supervised = (policy: PolicySettings) => ({ policy, posture: SUPERVISED });

/** Agents that differ in how their commands are judged. */
export const COMMAND_AGENTS: PolicyAgents = {
  // chains of allowed programs, classes of risk
  segments: supervised({ profile: 'zeroclaw' }),
  'segments-any': supervised({ profile: 'zeroclaw', commands: { allowlist: ['*'] } }),
  'segments-exact': supervised({ profile: 'zeroclaw', commands: { allowlist: ['/bin/echo'] } }),
  'segments-trusted': supervised({ profile: 'zeroclaw', commands: { allowlist: ['*'] }, allowedTools: ['shell'] }),
  'segments-open': supervised({ profile: 'zeroclaw', commands: { allowlist: ['*'], blockHighRisk: false } }),
  'segments-alone': { policy: { profile: 'zeroclaw', commands: { allowlist: ['*'] } }, posture: FULL },
  // one allowed program
  single: { policy: { profile: 'oxydra' }, posture: FULL },
  // patterns of sub-commands
  rules: supervised({ profile: 'kiro' }),
  'rules-allow': supervised({ profile: 'kiro', commands: { allowedCommands: ['git .*', 'echo .*'], deniedCommands: ['rm .*'] } }),
  'rules-any': supervised({ profile: 'kiro', commands: { allowedCommands: ['.*'] } }),
  'rules-strict': supervised({ profile: 'kiro', commands: { denyByDefault: true, allowedCommands: ['echo .*'] } }),
  'rules-readonly': supervised({ profile: 'kiro', commands: { autoAllowReadonly: true } }),
  'rules-tool': supervised({ profile: 'kiro', allowedTools: ['shell'] }),
  // texts that nothing may contain
  texts: { policy: { profile: 'phi' }, posture: FULL },
  'single-any': { policy: { profile: 'oxydra', commands: { allowlist: ['*'] } }, posture: FULL },
  ladder: { policy: { profile: 'claw' }, posture: FULL },
  core: { policy: {}, posture: FULL },
  'core-supervised': supervised({}),
};

/** How commands are judged, and what a model reads of them. */
export function commandsContract(started: () => PolicyInstallation): void {
  describe('a command', () => {
    let toolyard: TestCluster;
    let agent: Agent;
    let folder = '';
    beforeAll(() => {
      ({ toolyard, folder } = started());
      ({ agent } = toolyard);
    });

    const judge = (agentId: string, command: string, expected: Expected, more: object = {}) =>
      expectDecision(agent, { tool: 'shell', args: { command, ...more }, agentId, sessionId: `of-${agentId}` }, expected);
    const riskOf = async (command: string, agentId = 'segments-any') => {
      const { body } = await agent.request<Quote>('POST', '/v1/calls:quote', { tool: 'shell', arguments: { command }, agentId });
      return body.decision?.reasons.find(({ rule }) => rule === 'command-class')?.reason;
    };
    const allow = (id: string) => agent.request('POST', `/v1/calls/${id}/decision`, { decision: 'allow' });

    describe('of an agent that has an allowlist of programs', () => {
      it.each([
        ['date', /\d{2}:\d{2}/],
        ['echo "a; b"', 'a; b'],
        ["echo '$HOME'", '$HOME'],
        ['FOO=1 ls', ''],
        ['echo one && echo two | cat', 'one\ntwo'],
        ['ls; pwd', ''],
        ['git status --help | head -1', ''],
      ])('runs a command when every part of it is in the allowlist, in any chain, without asking: %s [K-17, PP-13]', (command, output) =>
        judge('segments', command, { runs: typeof output === 'string' ? literally(output) : output }),
      );

      it.each(['node', 'ls && nmap', 'nmap host', '/usr/bin/nmap', 'FOO=1 nmap'])(
        'denies a command with the name of the program that is not in the allowlist: %s [PP-04, PP-10, PP-12, PP-13, PP-74]',
        async (command) => {
          const { text } = await judge('segments', command, {
            denied: /Security policy violation: Command not in allowlist: (\/usr\/bin\/)?(node|nmap)/,
          });
          expect(text).toMatch(/^Tool use was rejected because the arguments supplied are forbidden: /);
        },
      );

      it.each([
        'echo $HOME',
        'echo `id`',
        'echo $(id)',
        'ls > f',
        'cat < f',
        'ls &',
        'cat <(ls)',
        'ls | tee f',
        'find . -exec rm',
        'find . -ok rm',
        'git config x y',
        'git alias x',
        'git -c a=b log',
        '   ',
        'ls "',
      ])('denies a command that may hide another command: %j [PP-14, PP-15]', (command) =>
        judge('segments', command, {
          denied:
            /Security policy violation: Command (has blocked syntax|has an unsafe argument|not in allowlist: tee|is empty|cannot be read)/,
        }),
      );

      it('allows any program for *, and a path only as exactly that path [PP-12]', async () => {
        await judge('segments-any', 'node --version', { runs: /^v\d/ });
        await judge('segments-exact', '/bin/echo there', { runs: 'there' });
        await judge('segments-exact', 'echo there', { denied: 'Command not in allowlist: echo' });
      });

      it('denies a command for its program before its paths are spoken of, and for its paths before its risk is [PP-03]', async () => {
        const { call } = await judge('segments', 'nmap /etc/passwd', { denied: 'Forbidden path: /etc/passwd' });
        const denials = call.decision.reasons.filter(({ effect }) => effect === 'deny');
        expect(denials.map(({ rule }) => rule)).toEqual(['command-segments', 'command-path']);
        const risky = await judge('segments-any', 'rm /etc/passwd', { denied: 'Forbidden path: /etc/passwd' });
        const rules = risky.call.decision.reasons.filter(({ effect }) => effect === 'deny').map(({ rule }) => rule);
        expect(rules).toEqual(['command-path', 'command-class']);
      });

      it.each([
        ['cat /etc/passwd', 'Forbidden path: /etc/passwd'],
        ['grep x --file=/etc/shadow', 'Forbidden path: /etc/shadow'],
        ['grep -f/etc/shadow x', 'Forbidden path: /etc/shadow'],
        ['cat ~/.ssh/id', 'Forbidden path: ~/.ssh/id'],
        ['cat /srv/x', 'Path blocked by security policy: /srv/x'],
      ])(
        'denies a command for a path among its words, though its programs are allowed: %s [PP-05, PP-11, PP-18]',
        async (command, reason) => {
          const { call } = await judge('segments', command, { denied: literally(reason) });
          const effects = call.decision.reasons.filter(({ rule }) => rule.startsWith('command')).map(({ rule, effect }) => [rule, effect]);
          expect(Object.fromEntries(effects)).toMatchObject({ 'command-segments': 'allow', 'command-path': 'deny' });
          await judge('segments-trusted', command, { denied: literally(reason) });
        },
      );

      it('allows a URL in a command, which is no path [PP-18]', () =>
        judge('segments', 'echo http://example.com/etc', { runs: literally('http://example.com/etc') }));
    });

    describe('has a risk', () => {
      const HIGH =
        'rm mkfs dd shutdown reboot halt poweroff sudo su chown chmod useradd userdel usermod passwd mount umount iptables ufw firewall-cmd curl wget nc ncat netcat scp ssh ftp telnet';
      const MEDIUM = [
        ...'commit push reset clean rebase merge cherry-pick revert branch checkout switch tag'.split(' ').map((it) => `git ${it}`),
        ...['npm', 'pnpm', 'yarn'].flatMap((it) =>
          'install add remove uninstall update publish'.split(' ').map((action) => `${it} ${action}`),
        ),
        ...'add remove install clean publish'.split(' ').map((it) => `cargo ${it}`),
        ...'touch mkdir mv cp ln'.split(' ').map((it) => `${it} x`),
      ];

      it('rates programs that destroy, change rights or reach out as of high risk, and blocks them, asks for them or not [PP-02, PP-06, PP-16]', async () => {
        for (const program of HIGH.split(' '))
          expect([program, await riskOf(`${program} x`)]).toEqual([program, 'High-risk commands are blocked']);
        await judge('segments-any', 'rm x', { denied: 'High-risk commands are blocked' });
        await judge('segments-any', 'rm x', { denied: 'High-risk commands are blocked' }, { approved: true });
        await judge('segments-trusted', 'rm x', { denied: 'High-risk commands are blocked' });
        await judge('segments-alone', 'rm x', { denied: 'High-risk commands are blocked' });
      });

      it('asks about a command of high risk if that is not blocked, and runs it when a person allows it [K-05, PP-07]', async () => {
        await judge('segments-open', 'touch doomed', { runs: '' }, { approved: true });
        const { call } = await judge('segments-open', 'rm doomed', { asks: 'High-risk command requires approval' });
        expect((await allow(call.id)).status).toBe(200);
        expect(await agent.ended(call.id)).toMatchObject({ outcome: 'completed', result: { isError: false } });
        await judge('segments-open', 'rm -f doomed', { runs: '' }, { approved: true });
      });

      it('rates commands that change a project as of medium risk, and asks for them in a supervised session only [PP-02, PP-08, PP-17]', async () => {
        // Without a name `git branch` and `git tag` list only: their class requires approval, their risk is low.
        const kindOf = (command: string) => (/^git (?:branch|tag)$/.test(command) ? 'Command' : 'Medium-risk command');
        for (const command of MEDIUM)
          expect([command, await riskOf(command)]).toEqual([command, `${kindOf(command)} requires approval: ${command.split(' ')[0]}`]);
        expect(await riskOf('git status')).toBe("the command's risk is low");
        expect(await riskOf('ls')).toBe("the command's risk is low");
        const { call } = await judge('segments-any', 'mkdir made', { asks: 'Medium-risk command requires approval' });
        await allow(call.id);
        expect((await agent.ended(call.id)).outcome).toBe('completed');
        await judge('segments-alone', 'mkdir made', { runs: '' });
      });

      it('counts the model’s approval argument of a command only if the policy trusts models [K-05, PP-09]', async () => {
        await judge('segments-any', 'touch x', { runs: '' }, { approved: true });
        await judge('core-supervised', 'touch x', { asks: 'requires approval' }, { approved: true });
      });
    });

    describe('of an agent that may run one program at a time', () => {
      it.each(['ls', 'echo x', '/usr/bin/env true'])('runs a single program of the list: %s', (command) =>
        judge('single', command, { runs: '' }),
      );

      it.each(['ls | wc', 'ls && ls', 'ls || ls', 'ls; ls', 'ls > f', 'cat < f', 'echo `id`', 'echo $(id)', 'ls\nls', 'ls\r'])(
        'denies a command of more than one program: %j [PP-43]',
        (command) => judge('single', command, { denied: 'only a single allowlisted command is permitted' }),
      );

      it('denies a single program outside of the list [K-17, PP-43]', () =>
        judge('single', 'curl x', {
          denied: literally("blocked by security policy (CommandNotAllowed): 'curl' is not in shell allowlist"),
        }));
    });

    describe('of an agent with patterns', () => {
      it('runs a command when an allowed pattern matches every part of it, and asks otherwise [K-17]', async () => {
        await judge('rules-allow', 'echo a && echo b', { runs: 'a\nb' });
        await judge('rules-allow', 'echo a && make', { asks: 'no allowed pattern matches every part' });
        await judge('rules', 'echo a', { asks: 'no allowed pattern matches every part' });
      });

      it('asks about outside files named in a command, for any pattern that covers its words', async () => {
        for (const command of ['echo a >/etc/f', 'echo a >|/etc/f', 'echo /etc/shadow', 'echo $HOME/.ssh/id'])
          await judge('rules-allow', command, { asks: /is outside of the workspace|only running it tells which file/ });
        await judge('rules-allow', 'echo a > notes.md; echo b', { runs: 'b' });
      });

      it.each([
        ['AWS_PROFILE=dev echo a', 'LD_PRELOAD=x echo a'],
        ['git log "$BRANCH"', 'git log $BRANCH'],
      ])('trusts a command with variables exactly as written: %s', async (command, other) => {
        const { call } = await judge('rules', command, { asks: /Dangerous command: / });
        expect(call.approval?.trustOptions.map(({ id, display }) => [id, display])).toEqual([['command-full', command]]);
        await agent.request('POST', `/v1/calls/${call.id}/decision`, {
          decision: 'allow',
          scope: 'session-args',
          trustOption: 'command-full',
        });
        await agent.ended(call.id);
        expect((await submitted(agent, { tool: 'shell', args: { command }, agentId: 'rules', sessionId: 'of-rules' })).call).toMatchObject({
          status: 'ended',
          decision: { effect: 'allow' },
        });
        await judge('rules', other, { asks: /Dangerous command: / });
      });

      it('denies a command when a denied pattern matches one part of it, in any spelling, allowed or not [PP-80]', async () => {
        for (const command of ['echo x; rm x', '/bin/rm x', "bash -c 'rm x'", 'echo $(rm x)'])
          await judge('rules-allow', command, { denied: literally('Command matches the denied pattern: rm .*') });
      });

      /** Result of one start with both errors. */
      let refused: Promise<unknown> | undefined;
      it.each(['deniedCommands', 'allowedCommands'])('stops the start of a gateway with an invalid pattern in %s [PP-80]', async (list) => {
        const broken = join(folder, 'patterns.json');
        const commands = { deniedCommands: ['fine', '('], allowedCommands: ['fine', '('] };
        writeFileSync(broken, JSON.stringify({ agents: { a: { policy: { commands } } } }));
        refused ??= toolyard.gateway({ TOOLYARD_CONFIG: broken });
        await expect(refused).rejects.toThrow(
          `agents.a.policy.commands.${list}.1: expected a regular expression of RE2: missing closing )`,
        );
      });

      it('denies a command that an expansion may turn into a denied one, and rates one with such a program as high [PP-80]', async () => {
        for (const command of ['k=rm; $k x', 'echo rm x | sh', "bash -c '$k x'", 'echo x | xargs $k'])
          await judge('rules-allow', command, { denied: 'Command cannot be compared with deniedCommands: ' });
        expect(await riskOf('k=ls; $k')).toMatch(/high/i);
        await judge('rules-allow', 'echo $HOME', { runs: /./ });
      });

      it('denies a command instead of asking if the policy denies by default [PP-81]', async () => {
        await judge('rules-strict', 'make', { denied: 'Command not in allowed list' });
        await judge('rules-strict', 'echo fine', { runs: 'fine' });
      });

      it('runs a reading command if the policy allows that, and only then [PP-82]', async () => {
        await judge('rules-readonly', 'ls | head -3', { runs: '' });
        for (const command of ['git branch -D x', 'find . -delete', 'echo x > y']) await judge('rules-readonly', command, { asks: /./ });
        await judge('rules', 'ls', { asks: 'no allowed pattern' });
      });

      it.each([
        'echo x | bash',
        'echo $(id)',
        'cat <(id)',
        'find . -exec id ;',
        'PAGER=evil git log',
        'LD_PRELOAD=x ls',
        'sort --compress-program=id x',
        'git fetch --upload-pack=id',
        'sed s/x/id/e',
      ])('asks about a command with hidden effects, without trust options, despite any permission: %s [PP-83]', async (command) => {
        const { call } = await judge('rules-any', command, { asks: /Dangerous command: / });
        expect(call.approval?.trustOptions).toEqual([]);
      });

      it('allows no command that cannot be read by a pattern of an agent [PP-84]', async () => {
        for (const command of ['ls\r', 'ls "']) await judge('rules-any', command, { asks: /./ });
      });

      it('runs a command without any pattern when the tool itself is allowed', () =>
        judge('rules-tool', 'echo x | bash -c cat', { runs: 'x' }));
    });

    it.each(['rm -rf /', 'rm -rf /*', 'sudo mkfs /dev/x', 'dd if=/dev/zero of=x', ':(){ :|:& };:'])(
      'runs no command that destroys a machine, in any posture and for any agent: %s [PP-16, PP-106]',
      async (command) => {
        const denied = /Command blocked by safety policy: contains '.+'\. This pattern is denied for safety\./;
        for (const agentId of ['core', 'texts', 'segments-trusted', 'rules-tool']) await judge(agentId, command, { denied });
      },
    );

    it('refuses a command with a destructive text if texts are denied, and otherwise runs it [K-17, PP-106]', async () => {
      await judge('texts', 'echo "rm -rf /tmp/x"', { denied: literally("contains 'rm -rf /'") });
      await judge('core', 'echo "rm -rf /tmp/x"', { runs: literally('rm -rf /tmp/x') });
    });

    it('leaves no trace of a denied command in its workspace and sends it to no worker', async () => {
      const { call } = await submitted(agent, {
        tool: 'shell',
        args: { command: 'touch trace; nmap' },
        agentId: 'segments',
        sessionId: 'traces',
      });
      expect((await agent.events(call.id)).map(({ type }) => type)).toEqual(['call.submitted', 'call.end']);
      const { body } = await agent.submit('file_list', {}, { sessionId: 'traces' }, { prefer: 'wait=60' });
      expect(textOf(body)).not.toContain('trace');
    });

    describe('is answered in the texts and sizes of the agent that its profile knows', () => {
      it.each([
        ['core', 'Command timed out after 0.3s and was killed'],
        ['segments-alone', 'Command timed out after 0.3s and was killed'],
        ['texts', 'Command timed out after 0.3s'],
        ['single-any', 'tool timed out after 0.3s'],
        ['ladder', 'Command exceeded timeout of 300 ms'],
        ['rules-any', 'Command timed out after 0.3s and was killed'],
      ])('answers as %s when the time of a command is over: %s [EX-28]', async (agentId, text) => {
        const call = await agent.run('shell', { command: 'sleep 20', timeout_ms: 300 }, { agentId });
        expect([call.outcome, call.error?.message]).toEqual(['timed_out', text]);
      });

      const dots = (bytes: number) => `head -c ${bytes} /dev/zero | tr '\\0' .`;
      it.each([
        ['texts', 262_144, '\n... (output truncated)'],
        ['rules-any', 133_333, ' ... truncated'],
        ['segments-alone', 1_048_576, '\n... [output truncated at 1MB]'],
      ])(
        'answers as %s when the output of a command is longer than %i bytes [EX-42, EX-43, EX-44, K-06, K-07]',
        async (agentId, bytes, cut) => {
          const [whole, more] = await Promise.all([
            agent.run('shell', { command: dots(bytes) }, { agentId }),
            agent.run('shell', { command: dots(bytes + 1) }, { agentId }),
          ]);
          expect(textOf(whole) === '.'.repeat(bytes)).toBe(true);
          const kept = textOf(more);
          expect([kept.length, kept.slice(bytes)]).toEqual([bytes + cut.length, cut]);
        },
      );

      it('continues a longer file at the line named in the text of rules-any, without a gap [EX-45]', async () => {
        const lines = Array.from({ length: 3_000 }, (_unused, n) => `${n} ${'.'.repeat(95)}\n`);
        const parties = { agentId: 'rules-any', sessionId: 'long-file' };
        expect(await agent.run('file_write', { path: 'long', content: lines.join('') }, parties)).toMatchObject({ outcome: 'completed' });
        const first = textOf(await agent.run('file_read', { path: 'long' }, parties));
        const [, from, to, all, next] =
          /\n\.\.\.truncated \(showing lines (\d+)-(\d+) of (\d+)\)\. Use offset: (\d+) to continue reading\.$/.exec(first) ?? [];
        expect([from, all, Number(next)]).toEqual(['1', '3000', Number(to) + 1]);
        const rest = textOf(await agent.run('file_read', { path: 'long', offset: Number(next) }, parties));
        expect(first.slice(0, first.lastIndexOf('\n...')) + rest.replace(/^\[Lines .*\]\n/, '') === lines.join('')).toBe(true);
      });
    });
  });
}
