import { describe, expect, it } from '@jest/globals';
import { POLICY_PROFILES, type PathRoot } from '#contracts';
import { decide } from './decide.js';
import { factsOf, SUPERVISED, TOOLS, UNATTENDED, WORKSPACE, type Circumstances } from './testing/call-facts.js';

const read = (path: unknown, circumstances: Circumstances = {}) => decide(factsOf('file_read', { path }, circumstances));
const write = (path: unknown, circumstances: Circumstances = {}) => decide(factsOf('file_write', { path }, circumstances));
const shell = (command: string, circumstances: Circumstances = {}) => decide(factsOf('shell', { command }, circumstances));
const textOf = ({ reasons }: ReturnType<typeof decide>) => reasons.map(({ reason }) => reason).join('\n');
const wide: Circumstances = { profile: 'zeroclaw', policy: { paths: { workspaceOnly: false } } };

describe('paths of a call', () => {
  it.each(['a', 'a/b', './a', 'a..b', '..a', 'a/../b', `${WORKSPACE}/a`, '.', '%41', 'ＡＢ'])(
    'reads a path inside the workspace without asking: %s [PP-85]',
    (path) => expect(read(path).effect).toBe('allow'),
  );

  it.each(['/other', '../x', 'a/../../x', '~', '~/x', `${WORKSPACE}x/a`, '//etc/passwd'])(
    'asks about a path outside of the workspace in a supervised session: %s [PP-85]',
    (path) => {
      expect(read(path).effect).toBe('ask');
      expect(read(path, { policy: { paths: { outside: 'deny' } } }).effect).toBe('deny');
    },
  );

  it('leaves paths outside of the workspace to the tool in unattended sessions', () =>
    expect(read('/other', { posture: UNATTENDED }).effect).toBe('allow'));

  it.each([
    'a\0b',
    'a\nb',
    '..%2fetc',
    '%2f..%2fx',
    '%2e%2e/x',
    '%2e%2e%2fx',
    '..\\x%5c',
    '．．/x',
    '‥/x',
    '..／x',
    'a‮b',
    '~root/x',
    'x'.repeat(5_000),
  ])('denies a misleading path in every posture: %j [PP-20, PP-21, PP-22]', (path) => {
    expect(read(path).effect).toBe('deny');
    expect(read(path, { posture: UNATTENDED, policy: { allowedTools: ['*'] } }).effect).toBe('deny');
  });

  it.each(POLICY_PROFILES.zeroclaw.paths.forbidden)('denies paths in the forbidden folder %s and below [PP-22, PP-24]', (folder) => {
    for (const path of [folder, `${folder}/x`, `${folder}/../${folder.slice(1)}/x`]) expect(read(path, wide).effect).toBe('deny');
    expect(textOf(read(`${folder}/x`, wide))).toContain(`Forbidden path: ${folder}/x`);
  });

  it('allows paths inside a workspace that lies in a forbidden folder, unless they are forbidden themselves', () => {
    const policy = { paths: { forbidden: ['/data', `${WORKSPACE}/private`] } };
    expect(read('a', { ...wide, policy }).effect).toBe('allow');
    expect(read('private/a', { ...wide, policy }).effect).toBe('deny');
    expect(read('../../other/s/a', { ...wide, policy: { paths: { ...policy.paths, workspaceOnly: false } } }).effect).toBe('deny');
  });

  it('refuses absolute paths and parent folders if only the workspace is allowed [PP-21, PP-23]', () => {
    for (const path of ['/elsewhere/x', 'a/../b', '~/x', `${WORKSPACE}/a`]) expect(read(path, { profile: 'zeroclaw' }).effect).toBe('deny');
    for (const path of ['a..b', 'a/b']) expect(read(path, { profile: 'zeroclaw' }).effect).toBe('allow');
    expect(read('/elsewhere/x', { ...wide, policy: { paths: { workspaceOnly: false, outside: 'ask' } } }).effect).toBe('ask');
  });

  describe('in other roots', () => {
    const roots: PathRoot[] = [
      { path: '/shared', access: 'write' },
      { path: '/vault', access: 'read' },
      { path: '/shared/internal', access: 'denied' },
      { path: '/vault/inbox', access: 'write' },
    ];
    const circumstances: Circumstances = { policy: { paths: { roots } } };

    it('decides paths in other roots by the access of the root, and a denied root wins over the one around it', () => {
      expect([read('/shared/a', circumstances).effect, write('/shared/a', circumstances).effect]).toEqual(['allow', 'allow']);
      expect([read('/vault/a', circumstances).effect, write('/vault/a', circumstances).effect]).toEqual(['allow', 'deny']);
      expect([read('/shared/internal/a', circumstances).effect, write('/shared/internal/a', circumstances).effect]).toEqual([
        'deny',
        'deny',
      ]);
      expect(write('/vault/inbox/a', circumstances).effect).toBe('allow');
    });

    it('states the reason of a violation in other roots [PP-28]', () => {
      expect(textOf(write('/vault/a', circumstances))).toContain('blocked by security policy (PathOutsideAllowedRoots)');
      expect(textOf(read('/nowhere', { policy: { paths: { roots, outside: 'deny' } } }))).toContain('PathOutsideAllowedRoots');
    });
  });

  describe('trusted by globs for a tool', () => {
    const policy = {
      paths: { trustWorkspace: false, trusted: [{ tools: ['file_*'], allowed: ['src', '/docs/*.md'], denied: ['src/secret'] }] },
    };

    it('runs, asks or denies by path globs of a tool; a pattern covers everything below, and denial wins [PP-30]', () => {
      expect(read('src/a', { policy }).effect).toBe('allow');
      expect(read('/docs/a.md', { policy }).effect).toBe('allow');
      expect(read('docs/x', { policy }).effect).toBe('ask');
      const denied = read('src/secret/x', { policy });
      expect(denied.effect).toBe('deny');
      expect(textOf(denied)).toContain('src/secret');
    });

    it('denies paths by globs still when the tool itself is trusted [PP-72]', () => {
      expect(read('src/secret/x', { policy, grants: { trustedTools: ['file_read'] } }).effect).toBe('deny');
      expect(read('src/secret/x', { policy: { ...policy, allowedTools: ['file_read'] } }).effect).toBe('deny');
    });

    it('refuses other command tools the paths that shell may not open, and opens none for them', () => {
      const repl = { ...TOOLS.shell, name: 'repl', aliases: [], pool: 'shell' as const };
      for (const name of ['shell', 'bash', 'execute_bash']) {
        const paths = { trustWorkspace: false, trusted: [{ tools: [name], allowed: ['src'], denied: ['src/secret'] }] };
        const judged = (working_dir: string) =>
          decide({ ...factsOf('shell', { command: 'make', working_dir }, { policy: { paths }, posture: UNATTENDED }), tool: repl });
        expect(judged('src/secret').effect).toBe('deny');
        const trust = { paths, commands: { allowedCommands: ['make'] } };
        const asked = { ...factsOf('shell', { command: 'make', working_dir: 'src' }, { policy: trust }), tool: repl };
        expect(decide(asked).effect).toBe('ask');
        expect(decide({ ...asked, tool: { ...repl, aliases: [name] } }).effect).toBe('allow');
      }
    });

    it('trusts paths by globs for that tool only', () =>
      expect(decide(factsOf('shell', { command: 'ls', working_dir: 'src/secret' }, { policy })).effect).toBe('ask'));
  });

  it('decides all paths of a call together: one denied path denies it, undecided ones are one question [PP-31]', () => {
    const denied = { paths: { trusted: [{ tools: ['*'], allowed: [], denied: ['no'] }] } };
    expect(read(['yes', 'no'], { policy: denied }).effect).toBe('deny');
    const asked = read(['/a', '/b', 'c']);
    expect(asked.effect).toBe('ask');
    expect(textOf(asked)).toMatch(/\/a is outside.*\/b is outside/);
  });

  it('applies paths granted or denied for the session at once, below a folder too, and writing includes reading [PP-78]', () => {
    const grants = { allowedPaths: { read: ['/r'], write: ['/w'] }, deniedPaths: { read: ['secret'], write: ['secret', 'src'] } };
    expect([read('/r/x', { grants }).effect, read('/w/x', { grants }).effect, write('/w/x', { grants }).effect]).toEqual([
      'allow',
      'allow',
      'allow',
    ]);
    expect(write('/r/x', { grants }).effect).toBe('ask');
    expect([read('secret/x', { grants }).effect, read('src/x', { grants }).effect, write('src/x', { grants }).effect]).toEqual([
      'deny',
      'allow',
      'deny',
    ]);
    expect(read('secret/x', { grants, posture: UNATTENDED }).effect).toBe('deny');
  });

  it('asks about no granted path in a mode that asks for every write', () => {
    const posture = { autonomy: 'full', permissionMode: 'prompt' } as const;
    expect(write('a', { posture }).effect).toBe('ask');
    expect(write('a', { posture, grants: { allowedPaths: { read: [], write: [`${WORKSPACE}/a`] } } }).effect).toBe('allow');
  });
});

describe('paths in a command', () => {
  it.each([
    'cat /etc/passwd',
    'grep x --file=/etc/shadow',
    'cat</etc/passwd',
    'echo x >/etc/x',
    'tar -C/etc x',
    'cat "/et"c/passwd',
    'X=/etc/passwd ls',
    'dd of=/etc/x',
    "bash -c 'cat /etc/passwd'",
    'ls /tmp/../etc',
    'cat ~/.ssh/id',
    'echo $(cat /etc/passwd)',
  ])('finds and denies forbidden paths in a command: %s [PP-05, PP-18, PP-22]', (command) => {
    const circumstances: Circumstances = { policy: { paths: { forbidden: ['/etc', '~/.ssh'] } }, posture: UNATTENDED };
    expect(textOf(shell(command, circumstances))).toContain('Forbidden path: ');
    expect(shell(command, circumstances).effect).toBe('deny');
  });

  it.each(['curl http://x/etc', 'cat etc/passwd', 'echo hello', 'ls > /dev/null', 'sed s/etc/x/ f', "git commit -m 'see %2e%2e/etc'"])(
    'sees no forbidden paths in the command %s [PP-18]',
    (command) => expect(shell(command, { policy: { paths: { forbidden: ['/etc', '/dev'] } }, posture: UNATTENDED }).effect).toBe('allow'),
  );

  it('asks about paths outside of the workspace in a command even when a pattern allows the command', () => {
    const policy = { commands: { allowedCommands: ['cat .*'] } };
    expect(textOf(shell('cat ../../x', { policy, posture: SUPERVISED }))).toContain('../../x is outside');
    expect(textOf(shell('cat a/b', { policy }))).not.toContain('outside');
  });

  it('denies paths denied for the session in a command as plain names too', () => {
    const grants = { deniedPaths: { read: ['secret.txt'], write: [] } };
    expect(shell('cat secret.txt', { grants, posture: UNATTENDED }).effect).toBe('deny');
    expect(shell('cat x/../secret.txt', { grants, posture: UNATTENDED }).effect).toBe('deny');
    expect(shell(`ls ${'x '.repeat(6_000)}`, { grants, posture: UNATTENDED }).effect).toBe('deny');
    expect(shell('cat other.txt', { grants, posture: UNATTENDED }).effect).toBe('allow');
  });
});
