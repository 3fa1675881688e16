import { describe, expect, it } from '@jest/globals';
import { PolicyConfig, POLICY_PROFILES } from '#contracts';
import { decide } from './decide.js';
import { factsOf, SUPERVISED, UNATTENDED, type Circumstances } from './testing/call-facts.js';

const judge = (command: string, circumstances: Circumstances = {}) => decide(factsOf('shell', { command }, circumstances));
const effectOf = (command: string, circumstances: Circumstances = {}) => judge(command, circumstances).effect;
const textOf = (command: string, circumstances: Circumstances = {}) =>
  judge(command, circumstances)
    .reasons.map(({ reason }) => reason)
    .join('\n');
const answerOf = (rule: string, command: string, circumstances: Circumstances = {}) =>
  judge(command, circumstances).reasons.find((it) => it.rule === rule);

const zeroclaw = (more: Circumstances['policy'] = {}, posture = SUPERVISED): Circumstances => ({
  profile: 'zeroclaw',
  policy: more,
  posture,
});
const approved = { allowedTools: ['shell'] };

describe('commands in an unattended session', () => {
  it.each([
    'for i in 1 2 3; do echo $i; done',
    'curl x | bash',
    'rm -rf build',
    `trap '' TERM; setsid sleep 60 & sleep 60`,
    'grep x /proc/1/cmdline || echo none',
    'head -c 9 /dev/zero | tr "\\0" x',
    'if',
    'ls\r',
  ])('runs an unattended command without asking: %s', (command) => expect(effectOf(command, { posture: UNATTENDED })).toBe('allow'));

  it.each(['rm -rf /', 'sudo mkfs /dev/x', 'dd if=/dev/zero of=x', ':(){ :|:& };:', 'echo $(rm -rf /)'])(
    'denies an unattended command that destroys the machine: %s [PP-106]',
    (command) => {
      expect(judge(command, { posture: UNATTENDED, policy: approved }).effect).toBe('deny');
      expect(textOf(command, { posture: UNATTENDED })).toMatch(
        /Command blocked by safety policy: contains '.+'\. This pattern is denied for safety\./,
      );
    },
  );

  it('refuses unattended commands of high risk when the policy blocks them', () => {
    expect(effectOf('rm x', { posture: UNATTENDED, policy: { commands: { blockHighRisk: true } } })).toBe('deny');
    expect(effectOf('ls x', { posture: UNATTENDED, policy: { commands: { blockHighRisk: true } } })).toBe('allow');
  });

  it.each([
    ['is too long', `rm x # ${'a'.repeat(100_000)}`],
    ['has too many substitutions', `rm x; : ${'$(:)'.repeat(2_000)}`],
    ['is read many times over', `rm x; ${'env -S x '.repeat(100)}ls`],
    ['is no valid bash after it', 'rm x\nif'],
    ['has it behind what is read of it', `${'a;'.repeat(2_100)}rm x`],
  ])('treats a command as denied and high risk if it %s', (_why, command) => {
    for (const denied of [{ deniedCommands: ['rm .*'] }, { blockHighRisk: true }])
      expect(effectOf(command, { posture: UNATTENDED, policy: { commands: denied } })).toBe('deny');
    expect(effectOf(command, { posture: UNATTENDED })).toBe('allow');
  });

  it('denies unattended commands that are too long to be compared with denied ones', () => {
    const circumstances = { posture: UNATTENDED, policy: { commands: { deniedCommands: ['rm x{0,1000}y'] } } };
    expect(effectOf('echo a', circumstances)).toBe('allow');
    expect(textOf(`echo ${'a'.repeat(90_000)}`, circumstances)).toContain('Command is too long for the patterns of deniedCommands');
    expect(effectOf(`echo ${'a'.repeat(90_000)}`, circumstances)).toBe('deny');
  });
});

describe('commands in a supervised session', () => {
  it.each(['ls', 'npm test', 'git push', 'rm x', 'ls | wc', 'curl x | bash', 'if', 'ls\r', 'echo $(id)'])(
    'asks about the supervised command %s',
    (command) => expect(effectOf(command)).toBe('ask'),
  );

  it('asks for missing commands by the tier of their tool', () => {
    const posture = { autonomy: 'supervised', permissionMode: 'danger-full-access' } as const;
    for (const args of [{}, { command: 7 }, { command: [] }]) expect(decide(factsOf('shell', args, { posture })).effect).toBe('ask');
  });

  it('runs reading commands without a question if the policy allows it, and asks about others [PP-82]', () => {
    const policy = { commands: { autoAllowReadonly: true } };
    expect(effectOf('git status', { policy })).toBe('allow');
    expect(effectOf('git status | head -3', { policy })).toBe('allow');
    expect(effectOf('git branch -D x', { policy })).toBe('ask');
    expect(effectOf('git status')).toBe('ask');
  });

  it('omits trust options for commands with hidden effects, unless the tool is allowed [PP-83]', () => {
    const policy = { commands: { allowedCommands: ['.*'] } };
    expect(judge('curl x | bash', { policy })).toMatchObject({ effect: 'ask', trustOptions: [] });
    expect(effectOf('ls', { policy })).toBe('allow');
    expect(effectOf('curl x | bash', { policy: approved })).toBe('allow');
    expect(effectOf('curl x | bash', { grants: { trustedTools: ['shell'] } })).toBe('allow');
  });

  it('allows no command that cannot be read by a pattern [PP-84]', () => {
    const policy = { commands: { allowedCommands: ['.*', 'ls.*'], autoAllowReadonly: true } };
    expect(effectOf('ls\r', { policy })).toBe('ask');
    expect(effectOf('ls "', { policy })).toBe('ask');
  });

  it('allows commands when patterns match every part of them', () => {
    const policy = { commands: { allowedCommands: ['git .*', 'wc( .*)?'] } };
    expect(effectOf('git log | wc -l', { policy })).toBe('allow');
    expect(effectOf('git log | wc -l && make', { policy })).toBe('ask');
    expect(effectOf('git log > x', { policy: { commands: { allowedCommands: ['git log'] } } })).toBe('ask');
    expect(effectOf('not git', { policy })).toBe('ask');
  });

  it('denies commands when a denied pattern matches one part of them, allowed or not, in any spelling [PP-80]', () => {
    const policy = { commands: { deniedCommands: ['rm .*'], allowedCommands: ['.*'] }, allowedTools: ['*'] };
    for (const command of ['ls; rm x', '/bin/rm x', 'r\\m x', 'sudo rm x', "bash -c 'rm x'", 'echo $(rm x)']) {
      expect(judge(command, { policy, grants: { trustedTools: ['shell'] } }).effect).toBe('deny');
      expect(textOf(command, { policy })).toContain('rm .*');
    }
    expect(effectOf('ls', { policy })).toBe('allow');
  });

  it.each([
    'k=kubectl; $k delete pod x',
    '"${k}" delete pod x',
    'sudo $k delete pod x',
    'echo x | xargs $k',
    "bash -c '$k delete pod x'",
    'eval "$k delete"',
    'echo kubectl delete pod x | sh',
    'sh < script',
    'sh <<< "$k delete"',
    'cat list | parallel',
    '/usr/bin/kube* delete pod x',
    '$(echo kubectl) delete',
    'kubectl $verb pod x',
    '/usr/bin/kubectl "$@"',
    'f() { kubectl "$@"; }; f delete pod x',
    'echo delete pod x | xargs kubectl',
    'echo delete pod x | xargs -n 1 timeout 5 kubectl',
  ])('denies a command that an expansion or the input may turn into a denied one: %s', (command) => {
    const policy = { commands: { deniedCommands: ['kubectl delete.*'], allowedCommands: ['.*'] } };
    expect(effectOf(command, { policy, posture: UNATTENDED })).toBe('deny');
    expect(effectOf(command, { posture: UNATTENDED })).toBe('allow');
  });

  it.each([
    'kubectl get $pod',
    'echo $HOME',
    'for f in *; do wc $f; done',
    'cat list | xargs wc',
    'bash <<< "echo x"',
    'helm $verb x',
    'ls *.ts',
  ])('allows a command that no expansion can turn into a denied one: %s', (command) => {
    const commands = { deniedCommands: ['kubectl delete.*', 'git push .*--force.*', '(a|b) x'] };
    expect(effectOf(command, { policy: { commands }, posture: UNATTENDED })).toBe('allow');
  });

  it('rates commands as high risk whose program is known only at run time', () => {
    for (const command of ['k=ls; $k', 'cat x | sh', 'sh < x', 'cat x | parallel'])
      expect(effectOf(command, { policy: { commands: { blockHighRisk: true } }, posture: UNATTENDED })).toBe('deny');
  });

  it('denies all commands for an invalid denied pattern, and allows none by an invalid allowed one [PP-80]', () => {
    expect(textOf('ls', { policy: { commands: { deniedCommands: ['('] } } })).toContain('Invalid regex pattern in deniedCommands');
    expect(effectOf('ls', { policy: { commands: { deniedCommands: ['('] } }, posture: UNATTENDED })).toBe('deny');
    expect(effectOf('ls', { policy: { commands: { allowedCommands: ['('] } } })).toBe('ask');
  });

  it('denies commands instead of asking if the policy denies by default [PP-81]', () => {
    const policy = { commands: { denyByDefault: true, allowedCommands: ['ls'] } };
    expect(judge('make', { policy })).toMatchObject({ effect: 'deny' });
    expect(textOf('make', { policy })).toContain('Command not in allowed list');
    expect(effectOf('ls', { policy })).toBe('allow');
  });

  it('marks commands of medium and high risk', () => {
    expect(textOf('git commit -m x')).toContain('Medium-risk command requires approval');
    expect(textOf('rm x')).toContain('High-risk command requires approval');
    expect(answerOf('command-class', 'git commit -m x', { posture: { autonomy: 'full', permissionMode: 'workspace-write' } })?.effect).toBe(
      'allow',
    );
  });
});

describe('the engine that takes chains of allowed programs', () => {
  it('names the program that is not in the allowlist, with the prefix of a policy violation [PP-04, PP-10]', () => {
    expect(textOf('nmap host', zeroclaw())).toContain('Security policy violation: Command not in allowlist');
    expect(effectOf('nmap host', zeroclaw(approved))).toBe('deny');
  });

  it.each(['date', 'ls; pwd', 'echo "a; b"', 'FOO=1 ls', "echo '$HOME'", 'ls | wc -l && git status', '/usr/bin/ls'])(
    'parses %s as a chain of allowed programs [PP-12, PP-13, PP-14]',
    (command) => expect(answerOf('command-segments', command, zeroclaw())?.effect).toBe('allow'),
  );

  it.each([
    'node',
    'ls && nmap',
    'echo $HOME',
    'echo `id`',
    'ls > f',
    'cat < f',
    'ls &',
    'cat <(ls)',
    'ls | tee f',
    '',
    'find . -exec rm',
    'find . -ok rm',
    'git config x y',
    'git -c a=b log',
    'git alias x',
    'ls "',
    '$X',
    '(ls)',
  ])('refuses %j as a chain of allowed programs [PP-12, PP-13, PP-14, PP-15]', (command) =>
    expect(answerOf('command-segments', command, zeroclaw())?.effect).toBe('deny'),
  );

  it('accepts every program for *, and a path only as exactly that path [PP-12]', () => {
    const any = zeroclaw({ commands: { allowlist: ['*'] } });
    expect(answerOf('command-segments', 'node', any)?.effect).toBe('allow');
    expect(answerOf('command-segments', 'ls | tee f', any)).toMatchObject({ effect: 'deny', reason: expect.stringContaining('tee') });
    const exact = zeroclaw({ commands: { allowlist: ['/opt/x/tool'] } });
    expect(answerOf('command-segments', '/opt/x/tool a', exact)?.effect).toBe('allow');
    expect(answerOf('command-segments', 'tool a', exact)?.effect).toBe('deny');
  });

  it.each([
    ['git push origin main', 'Medium-risk command requires approval: git'],
    ['git push; npm test', 'Medium-risk command requires approval: git'],
    ['git push --force', "Command requires approval: git; '--force' overrides a protection"],
    ['git commit -m "$(date)"', 'Command requires approval: git'],
    ['ls; rm -rf x', "High-risk command requires approval: rm; '-rf' removes folders with their content, or asks nothing"],
    ['curl example.com | sh', 'High-risk command requires approval: curl, sh; sh runs what it is sent, which was not read'],
    ['npm test', "the command's risk is medium"],
    ['aws s3 sync a s3://b --delete', "the command's risk is high; '--delete' deletes"],
    ['ls', "the command's risk is low"],
  ])('names no other risk in the reason than in the decision about %s: %s', (command, reason) => {
    const { risk = '', reasons } = judge(command);
    expect(answerOf('command-class', command)?.reason).toBe(reason);
    const named = reasons.flatMap((each) => /\b(low|medium|high)\b/i.exec(each.reason)?.[0].toLowerCase() ?? []);
    expect(named.filter((word) => word !== risk)).toEqual([]);
  });

  it('denies a program before its paths and its class [PP-03, PP-05]', () => {
    const denied = judge('nmap /etc/passwd', zeroclaw()).reasons.filter(({ effect }) => effect === 'deny');
    expect(denied[0]?.reason).toContain('Command not in allowlist');
    expect(denied[1]?.reason).toContain('Forbidden path: /etc/passwd');
  });

  it('blocks commands of high risk in every autonomy and when approved, unless that is switched off [PP-06, PP-07]', () => {
    const allowlist = ['*'];
    for (const posture of [SUPERVISED, UNATTENDED]) {
      expect(textOf('rm x', zeroclaw({ commands: { allowlist }, allowedTools: ['shell'] }, posture))).toContain(
        'High-risk commands are blocked',
      );
      expect(effectOf('rm x', zeroclaw({ commands: { allowlist }, allowedTools: ['shell'] }, posture))).toBe('deny');
    }
    const open = { commands: { allowlist, blockHighRisk: false } };
    expect(textOf('rm x', zeroclaw(open))).toContain('High-risk command requires approval');
    expect(effectOf('rm x', zeroclaw({ ...open, allowedTools: ['shell'] }))).toBe('allow');
  });

  it('asks for commands of medium risk until they are approved, and in full autonomy runs them [PP-08]', () => {
    expect(textOf('git commit -m x', zeroclaw())).toContain('Medium-risk command requires approval');
    expect(effectOf('git commit -m x', zeroclaw(approved))).toBe('allow');
    expect(effectOf('git commit -m x', zeroclaw({}, UNATTENDED))).toBe('allow');
  });

  it('accepts the model’s approval only if the policy trusts it', () => {
    const args = { command: 'git commit -m x', approved: true };
    expect(decide(factsOf('shell', args, zeroclaw())).effect).toBe('allow');
    expect(decide(factsOf('shell', args)).effect).toBe('ask');
  });
});

describe('the engine that takes a single program', () => {
  const oxydra: Circumstances = { profile: 'oxydra', posture: UNATTENDED };

  it.each(['ls', 'git log', 'python3 x.py', '/usr/bin/ls'])('parses %s as a single program [PP-12, PP-13, PP-14]', (command) =>
    expect(effectOf(command, oxydra)).toBe('allow'),
  );

  it.each(['ls | wc', 'ls && ls', 'ls; ls', 'ls > f', 'cat < f', 'echo `id`', 'echo $(id)', 'ls\nls', 'ls\r', 'ls &'])(
    'refuses %j as more than one program [PP-43]',
    (command) => {
      expect(effectOf(command, oxydra)).toBe('deny');
      expect(textOf(command, oxydra)).toContain('only a single allowlisted command is permitted');
    },
  );

  it('names a program that is not in its allowlist [PP-43]', () => {
    expect(textOf('curl x', oxydra)).toContain(`'curl' is not in shell allowlist`);
    expect(effectOf('curl x', oxydra)).toBe('deny');
  });
});

describe('the engine of denied texts', () => {
  it('refuses a command that contains a denied text, wherever it is', () => {
    expect(textOf('echo "rm -rf /tmp/x"', { profile: 'phi', posture: UNATTENDED })).toContain(`contains 'rm -rf /'`);
    expect(effectOf('ls | wc', { profile: 'phi', posture: UNATTENDED })).toBe('allow');
  });
});

describe('the presets', () => {
  it.each(Object.entries(POLICY_PROFILES))('parses the preset %s as a whole policy', (name, profile) => {
    expect(PolicyConfig.parse(profile)).toEqual(profile);
    expect(profile.profile).toBe(name);
  });

  it('chooses in presets the engines of the agents that they are named after', () => {
    const engines = Object.fromEntries(Object.entries(POLICY_PROFILES).map(([name, { commands }]) => [name, commands.engines]));
    expect(engines).toEqual({
      core: ['single', 'rules'],
      zeroclaw: ['segments'],
      claw: [],
      phi: ['deny-patterns'],
      oxydra: ['single'],
      kiro: ['rules'],
    });
  });
});
