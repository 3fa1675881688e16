import { describe, expect, it } from '@jest/globals';
import { NO_GRANTS } from '#contracts';
import { decide } from './decide.js';
import { addGrant } from './grants/add-grant.js';
import { factsOf, type Circumstances } from './testing/call-facts.js';

const judge = (command: string, circumstances: Circumstances = {}) => decide(factsOf('shell', { command }, circumstances));
const byPattern = (command: string, ...allowedCommands: string[]) => judge(command, { policy: { commands: { allowedCommands } } }).effect;

describe('a pattern of commands', () => {
  it.each([
    'echo a >/etc/f',
    'echo a >|/etc/f',
    'echo a >> /etc/f',
    'echo a &> /etc/f',
    'echo a 2> /etc/f',
    'echo a <> /etc/f',
    'echo a >&/etc/f',
    'echo a | echo b > /etc/f',
    '{ echo a; } > /etc/f',
    'if true; then echo a; fi > /etc/f',
    'FOO=1 echo a',
    'export FOO=1; echo a',
    'for i in 1; do echo $i; done > /etc/f',
    'echo a $(id)',
    'echo a `id`',
    'echo a <(id)',
    'echo "${x:-$(id)}"',
    'echo <<E\n$(id)\nE',
    'echo a < /etc/shadow',
    'echo /etc/shadow',
    'echo --file=/etc/shadow',
    'echo ~/.ssh/id',
    'echo ../../f',
    'echo $HOME/.ssh/id',
    'echo "${HOME}"/.ssh/id',
    'echo ~root/.ssh/id',
    'echo {/etc/shadow,a}',
    'echo --file={/etc/shadow,a}',
    'echo < $F',
  ])('asks if a pattern covers more than plain words in the workspace: %j', (command) => {
    expect(byPattern(command, 'echo .*', 'true')).toBe('ask');
    expect(byPattern(command, '[\\s\\S]*')).toBe('ask');
  });

  it.each([
    'echo a',
    'echo "a > /etc/f"',
    "echo 'a; $(id)'",
    'echo a 2>&1',
    'echo a >&2',
    'echo a 2>&-',
    'echo a > /dev/null 2>&1',
    'echo a 2> /dev/stderr',
    'echo a < notes.txt',
    'LC_ALL=C echo a',
    'echo a && echo b | echo c',
    'echo $HOME',
    'echo src/a.ts ./b',
    '{ echo a; } 2>/dev/null',
  ])('covers the words of each command by a pattern: %j', (command) => expect(byPattern(command, 'echo .*')).toBe('allow'));

  it('covers the plain text of a pattern: a leading assignment, or the whole command', () => {
    expect(byPattern('NODE_ENV=test npm run a', 'NODE_ENV=test npm .*')).toBe('allow');
    expect(byPattern('npm run a', 'NODE_ENV=test npm .*')).toBe('ask');
    expect(byPattern('AWS_PROFILE=dev aws s3 ls', 'AWS_PROFILE=dev aws s3 ls')).toBe('allow');
    expect(byPattern('AWS_PROFILE=dev aws s3 ls', 'AWS_PROFILE=dev aws .*')).toBe('ask');
    expect(byPattern('cat /etc/hosts', 'cat /etc/hosts')).toBe('allow');
    expect(byPattern('cat /etc/hosts', 'cat /etc/host.')).toBe('ask');
  });

  it('leaves redirections to the rule for paths: as free as other writes of the workspace are', () => {
    const policy = { commands: { allowedCommands: ['echo .*'] } };
    const inMode = (permissionMode: 'workspace-write' | 'prompt', command = 'echo a > notes.md') =>
      judge(command, { policy, posture: { autonomy: 'supervised', permissionMode } }).effect;
    expect([inMode('workspace-write'), inMode('prompt'), inMode('prompt', 'echo a')]).toEqual(['allow', 'ask', 'allow']);
    const untrusted = { ...policy, paths: { trustWorkspace: false } };
    expect(judge('echo a > notes.md', { policy: untrusted }).effect).toBe('ask');
  });

  it('leaves files outside to the trust in paths', () => {
    const paths = { trusted: [{ tools: ['shell'], allowed: ['/srv/out'], denied: [] }] };
    const policy = { paths, commands: { allowedCommands: ['echo .*', 'cat .*'] } };
    const effect = (command: string) => judge(command, { policy }).effect;
    expect(['cat /srv/out/a', 'echo a > /srv/out/a', 'cat /srv/other/a', 'echo a > /srv/other/a'].map(effect)).toEqual([
      'allow',
      'allow',
      'ask',
      'ask',
    ]);
  });

  it('runs a redirection again that a person trusted word for word', () => {
    const [full] = judge('echo a >/etc/f').trustOptions ?? [];
    const grants = addGrant(NO_GRANTS, full ?? { grants: {} });
    const effect = (command: string) => judge(command, { grants }).effect;
    expect(['echo a >/etc/f', 'echo a >/etc/g', 'echo a >>/etc/f'].map(effect)).toEqual(['allow', 'ask', 'ask']);
  });
});
