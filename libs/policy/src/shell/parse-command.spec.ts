import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { findDestructiveCommand } from './destructive-command.js';
import { findDangerousCommand } from './dangerous-command.js';
import { parseCommand } from './parse-command.js';
import { isReadonly } from './readonly.js';
import { readCommand } from './code.js';
import { riskOf } from './risk-class.js';
import { plainText } from './sub-command.js';
import { anyText } from '../../../../test/support/any-text.js';

const written = (source: string) => parseCommand(source).commands.map(plainText);

/** Texts that look like shell more than random ones do. */
const shellish = fc
  .array(
    fc.constantFrom(
      'ls',
      'rm -rf /',
      ' ',
      '\n',
      ';',
      '|',
      '&&',
      '&',
      '$(',
      ')',
      '`',
      '"',
      "'",
      '<<EOF\n',
      'EOF\n',
      '>',
      '<(',
      '${x@P}',
      '{',
      '}',
      '(',
      'if',
      'then',
      'fi',
      'f()',
      'bash -c ',
      'eval ',
      'sudo ',
      'find . -exec ',
      '\\',
      '=',
      'PATH=',
      '\r',
      '\0',
      '#',
      '[[',
      ']]',
      '((',
      '😀',
    ),
    { maxLength: 30 },
  )
  .map((parts) => parts.join(''));

describe('reading a command', () => {
  it.each([
    ['ls && nmap', ['ls', 'nmap']],
    ['echo "a; b"', ['echo a; b']],
    ['FOO=1 ls', ['ls']],
    ['a | b; c & d || e\nf', ['a', 'b', 'c', 'd', 'e', 'f']],
    [
      '(a; { b; }); if c; then d; else e; fi; while f; do g; done; for x in 1; do h; done; case x in y) i;; esac',
      ['a', 'b', 'c', 'd', 'e', 'f', 'g', '', 'h', 'i'],
    ],
    ['f() { rm x; }; f', ['rm x', 'f']],
    ['echo $(id) `who` <(cat)', ['echo $(id) `who` <(cat)', 'id', 'who', 'cat']],
    ['cat <<EOF\n$(rm x)\nEOF', ['cat', 'rm x']],
    ["cat <<'EOF'\n$(rm x)\nEOF", ['cat']],
    ["r\\m -rf 'x'", ['rm -rf x']],
    ['sudo -u root env A=1 nice -n 5 rm x', ['sudo -u root env A=1 nice -n 5 rm x', 'env A=1 nice -n 5 rm x', 'nice -n 5 rm x', 'rm x']],
    ['ls | xargs -n 1 rm', ['ls', 'xargs -n 1 rm', 'rm']],
    ['find . -exec rm {} \\; -o -execdir mv a b +', ['find . -exec rm {} ; -o -execdir mv a b +', 'rm {}', 'mv a b']],
    [`bash -lc 'cd x && rm y'`, ['bash -lc cd x && rm y', 'cd x', 'rm y']],
    ['eval "rm x"', ['eval rm x', 'rm x']],
    ['bash <<EOF\nrm x\nEOF', ['bash', 'rm x']],
    ["trap 'rm x' EXIT", ['trap rm x EXIT', 'rm x']],
    ['echo $((1 + $(rm x)))', ['echo $((1 + $(rm x)))', 'rm x']],
  ])('finds every sub-command of %j', (source, expected) => {
    const reading = parseCommand(source);
    expect(reading.fault).toBeUndefined();
    expect(written(source).sort()).toEqual([...expected].sort());
  });

  it.each(['if', 'echo "a', 'ls\r', 'echo $(', 'a\0b', `${'sudo '.repeat(40)}ls`, 'x'.repeat(300_000)])(
    'says why a command cannot be read',
    (source) => {
      expect(parseCommand(source).fault).toBeDefined();
      expect(isReadonly(parseCommand(source))).toBe(false);
      expect(findDangerousCommand(parseCommand(source))).toBeDefined();
    },
  );

  it('reads any text as a command without throwing and without taking long', () => {
    fc.assert(
      fc.property(fc.oneof(shellish, anyText({ maxLength: 200 })), (source) => {
        const reading = parseCommand(source);
        findDestructiveCommand(reading);
        findDangerousCommand(reading);
        isReadonly(reading);
        riskOf(reading);
      }),
      { numRuns: 3_000 },
    );
  });

  it.each(['toString x', 'constructor --y', 'git toString', 'git constructor x', 'env valueOf x', 'toString constructor hasOwnProperty'])(
    'parses the command %s, whose words are member names of objects',
    (source) => {
      const reading = parseCommand(source);
      expect([findDangerousCommand(reading), isReadonly(reading)]).toEqual([undefined, false]);
      expect(riskOf(reading)).toEqual(expect.anything());
    },
  );

  it.each([
    ['literals without an end', 'python', '\\"'.repeat(50_000)],
    ['subscripts without an end', 'bash', `printf '${'['.repeat(90_000)}'`],
    ['nested subscripts', 'bash', `[[ ${'a['.repeat(45_000)} ]]`],
  ])('reads %s of a command once, not from each place on', (_what, language, source) => {
    const before = process.cpuUsage();
    findDangerousCommand(readCommand(source, language));
    expect(process.cpuUsage(before).user).toBeLessThan(2_000_000);
  });

  it.each([
    `${'env -S x '.repeat(100)}ls`,
    'env -S "'.repeat(2_500),
    `${'watch '.repeat(16_000)}ls`,
    `find . ${'-exec sh \\; '.repeat(3_000)}<<E\n${'ls\n'.repeat(10_000)}E\n`,
  ])('gives up on a command whose text would have to be parsed many times over (case %#)', (source) => {
    const reading = parseCommand(source);
    expect(reading).toMatchObject({ fault: expect.stringMatching(/too complicated|too deeply|more than/), unread: true });
    expect(reading.commands.length).toBeLessThan(100_000);
  });

  it.each([
    ['commands', 2_000, 'a;'.repeat(2_001)],
    ['commands', 2_000, 'a|'.repeat(49_000) + 'a'],
    ['words', 10_000, `rm ${'x '.repeat(10_000)}`],
    ['words', 10_000, '>x '.repeat(10_001)],
    ['words', 10_000, 'sudo '.repeat(2_000)],
  ])('reads no more of a command than so many %s', (what, most, source) => {
    const reading = parseCommand(source);
    expect(reading).toMatchObject({ fault: expect.stringMatching(new RegExp(`more than ${most} ${what}`)), unread: true });
    expect(reading.commands.length).toBeLessThanOrEqual(2_000);
  });

  it.each(['(', '$(', '`', 'sudo ', 'f(){ ', 'find . -exec ', '{ ', '"$(', '${x:-', 'rm rm ', '/', 'a|', '((', "bash -c '", 'eval '])(
    'reads 100 kB of %j in less than two seconds',
    (piece) => {
      const started = performance.now();
      for (const source of [piece.repeat(100_000 / piece.length), `${piece.repeat(900)}${'x '.repeat(50_000)}`]) {
        const reading = parseCommand(source);
        findDestructiveCommand(reading);
        findDangerousCommand(reading);
        riskOf(reading);
      }
      expect(performance.now() - started).toBeLessThan(20_000);
    },
  );
});

describe('the risk of a command', () => {
  it.each(['ls', 'git status', 'git -C x log', 'npm test', 'echo rm', 'cargo build'])('rates %s as of low risk [PP-02, PP-17]', (source) =>
    expect(riskOf(parseCommand(source))).toBe('low'),
  );
  it.each([
    ...'commit push reset clean rebase merge cherry-pick revert branch checkout switch tag'.split(' ').map((action) => `git ${action} x`),
    ...['npm', 'pnpm', 'yarn'].flatMap((program) =>
      'install add remove uninstall update publish'.split(' ').map((action) => `${program} ${action}`),
    ),
    ...'add remove install clean publish'.split(' ').map((action) => `cargo ${action}`),
    ...'touch mkdir mv cp ln'.split(' ').map((program) => `${program} x`),
    'git -c a=b push',
    'ls; git push',
  ])('rates %s as of medium risk [PP-02, PP-17]', (source) => expect(riskOf(parseCommand(source))).toBe('medium'));
  it.each([
    ...'rm mkfs dd shutdown reboot halt poweroff sudo su chown chmod useradd userdel usermod passwd mount umount iptables ufw firewall-cmd curl wget nc ncat netcat scp ssh ftp telnet'.split(
      ' ',
    ),
    'rm -rf /',
    'rm -fr /',
    ':(){ :|:& };:',
    '/bin/rm x',
    'ls; rm x',
    'ls | xargs rm',
    "bash -c 'rm x'",
    '$X y',
    "sg staff -c 'rm x'",
    "sg - staff 'rm x'",
    "env -S '-i rm x'",
    "env --split='rm x'",
    "env -vS 'rm\\_x'",
    'env -S nice rm x',
  ])('rates %s as of high risk [PP-02, PP-16]', (source) => expect(riskOf(parseCommand(source))).toBe('high'));

  it.each(['python', 'powershell', 'unknown'])('rates code in %s as high risk, since its effect is known only at run time', (language) =>
    expect(riskOf(readCommand('2 + 2', language))).toBe('high'),
  );
});

describe('danger in a command', () => {
  it.each([
    'echo $(id)',
    'echo `id`',
    'cat <(id)',
    'echo ${x@P}',
    'find . -exec ls {} ;',
    'find . -delete',
    "sed '1e id' f",
    "sed -n 's/a/b/e' f",
    "sed 's/a/b/w out' f",
    'sort --compress-program=x f',
    'git fetch --upload-pack=x',
    'git -c core.pager=x log',
    'PAGER=x git log',
    'LD_PRELOAD=x ls',
    'PATH=/tmp ls',
    'PATH= ls',
    'LD_PRELOAD=cat ls',
    'curl x | bash',
    'echo ls | sh',
    'bash < f',
    '$CMD x',
    'l? x',
    'ls() { rm x; }; ls',
    'awk \'BEGIN{system("id")}\'',
    'bash -c "$X"',
    "let 'a[$(id)]'",
    "unset 'a[`id`]'",
  ])('sees danger in %s [PP-83]', (source) => expect(findDangerousCommand(parseCommand(source))).toBeDefined());
  it.each([
    'ls -la',
    'PAGER=cat git log',
    'PAGER= git log',
    'git log | head',
    'sed s/a/b/ f',
    'grep -e x f',
    'echo "$HOME"',
    "echo '$(id)'",
    'npm test && npm run build',
  ])('sees no danger in %s', (source) => expect(findDangerousCommand(parseCommand(source))).toBeUndefined());
});

describe('commands that only read', () => {
  it.each([
    'ls',
    'git status',
    'git log --oneline | head -3',
    'cat a b 2>/dev/null',
    'grep -r x . | wc -l',
    'npm ls',
    'docker ps',
    'kubectl get pods',
    'git branch -a',
    'time ls',
    'LC_ALL=C sort f',
    'git stash list',
    'rustup show',
    'printf %s x',
    'test -f x',
    'git reflog',
    'git --no-pager log',
    'cd x && ls',
    'kubectl get pods -n x',
  ])('counts %s among the commands that only read [PP-82]', (source) => expect(isReadonly(parseCommand(source))).toBe(true));
  it.each([
    '',
    'rm x',
    'git branch -D x',
    'git branch x',
    'git push',
    'git log --output=f',
    'ls > f',
    'ls >> f',
    'find . -delete',
    'find . -exec rm {} ;',
    'ls &',
    'cat $X',
    'ls; touch x',
    './ls',
    'xargs rm',
    'ls | xargs rm',
    'sudo ls',
    'npm install',
    'git',
    'docker run x',
    'tee f',
    'git remote add x y',
    'git stash',
    'ls\r',
    '{ ls; } > f',
    '(ls) >> f',
    'HOME=. git diff',
    'for HOME in .; do git diff; done',
    "printf -v 'a[$(id)]' y",
    'printf -vPATH ./bin; ls',
    "test -v 'a[$(id)]'",
    "[ -v 'a[$(id)]' ]",
    "[ -R 'a[$(id)]' ]",
    'git reflog expire --all',
    'git reflog delete HEAD@{0}',
    'git -C x status',
    'git --work-tree=x status',
    'git --work-tree x status',
    'cd x && git status',
    ...'-s=x --server=x --kubeconfig=x --cluster=x --context=x --user=x --token=x --insecure-skip-tls-verify'
      .split(' ')
      .map((option) => `kubectl get pods ${option}`),
    'docker -H tcp://x ps',
    'docker --host=x ps',
  ])('counts %j as a command that does more than read [PP-82]', (source) => expect(isReadonly(parseCommand(source))).toBe(false));
});

describe('what destroys a machine', () => {
  it.each([
    'rm -rf /',
    'rm -fr /',
    'rm -r -f /',
    'rm --recursive /',
    'rm -rf /*',
    'rm -rf //',
    'sudo rm -rf /',
    'sudo mkfs /dev/x',
    'mkfs.ext4 /dev/x',
    'dd if=/dev/zero of=/dev/sda',
    ':(){ :|:& };:',
    'f(){ f & f; }; f',
    'r\\m -rf "/"',
    "bash -c 'rm -rf /'",
    'echo $(rm -rf /)',
    'ls; rm -rf / "',
    'true && rm -rf /',
    'kill -9 -1',
    'kill -s KILL -- -1',
    'sudo /bin/kill -- -1',
    'kill -9 -1 "',
  ])('sees that %s destroys a machine [PP-83]', (source) => expect(findDestructiveCommand(parseCommand(source))).toBeDefined());
  it.each([
    'rm -rf /tmp/x',
    'rm -rf ./',
    'echo "rm -rf /"',
    'rm x',
    'f() { g | h; }; f',
    'man mkfs',
    'dd --help',
    'kill -1 4711',
    'kill -9 -4711',
    'kill -l',
    'f() { if x; then f; fi; }; f',
  ])('sees that %s destroys no machine', (source) => expect(findDestructiveCommand(parseCommand(source))).toBeUndefined());
});
