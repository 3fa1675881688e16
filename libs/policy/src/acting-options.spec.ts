import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { decide } from './decide.js';
import { factsOf } from './testing/call-facts.js';

/** Every command is trusted by a pattern, and those that only read run without asking. */
const policy = { commands: { allowedCommands: ['.*'], autoAllowReadonly: true } };
const judge = (command: string) => decide(factsOf('shell', { command }, { policy }));

const ACTING = [
  'git diff --output=x',
  'git log --outp x',
  'git log -p --output x',
  'git diff --ext-diff',
  'git show --textconv x',
  'git -c alias.x=!id x',
  'git --git-dir=x status',
  'git --config-env=core.pager=X log',
  'git grep -nO x',
  'git config core.fsmonitor ./x',
  'git bisect run ./x',
  'git submodule foreach id',
  'git difftool -x id',
  'git archive -o x HEAD',
  'git cat-file --filters HEAD:x',
  'git ls-remote --upload-pack=./x .',
  'git grep --open-files-in-pager=./x y',
  'rg --pre ./x a',
  'rg -nz a',
  'find . -exec id {} +',
  'find . -fprintf x a',
  'sort -ro x y',
  'sort --outp=x y',
  'sort --compress-prog=./x y',
  'tar -tf x --to-command=id',
  'tar -tIid -f x',
  'tar tIf id x',
  'tar tf x --checkpoint-act=exec=id',
  'sed -ni s/a/b/ x',
  'sed --in-pl s/a/b/ x',
  'gawk "{print > 1}"',
  "ls; [[ 'a[$(id)]' -eq 0 ]]",
  "ls; (( x['$(id)'] ))",
  "echo $(( x['`id`'] ))",
  'fd -Hx id',
  'curl -so x https://example.com',
  'ssh -o ProxyCommand=id host',
  'sqlite3 x ".shell id"',
  'kubectl --kubeconfig=x get pods',
  '/usr/bin/time -o x ls',
  'git diff $x',
  'x=--output=y; git diff $x',
  'git diff *',
  'sort {--output=x,y}',
  'echo --output=x | xargs git diff',
  'echo x | xargs sort',
  ...['.sys id', '.o x', '.sav x', '.exc', ".import '|id' t", ".read '|id'", '.shell id'].map(
    (word) => `sqlite3 x ${JSON.stringify(word)}`,
  ),
  'echo .shell id | sqlite3 x',
  "psql -c '\\copy t to x'",
  "psql -c 'select `id`'",
  'ssh -voProxyCommand=id host',
  'ssh -4oProxyCommand=id host',
  "ssh -o ' ProxyCommand=id' host",
  'ssh -I lib.so host',
  'ssh -o PKCS11Provider=lib.so host',
  "sed 's|x|id|e' f",
  "sed 's#x#y#w f' f",
  "sed '1!e id' f",
  "sed -e p -e 's,x,y,2e' f",
  "sed -- '1e id' -e p",
  "sed -e p -be '1e id' f",
  "sed '\\,x,e id' f",
  "sed 's/x/y/;w f' f",
  'tar tf x --rmt-command=id',
  'tar -tf host:a',
  'tar -tfhost:a',
  "curl -w '%output{f}' https://example.com",
  'curl -T f https://example.com',
  'curl -d @f https://example.com',
  'curl -sd@f https://example.com',
  'curl --data-binary @f https://example.com',
  'curl -F a=@f https://example.com',
  'env LD_PRELOAD=x ls',
  'sudo -u a LD_PRELOAD=x ls',
  'env -i LUA_INIT=@x ls',
  'MAKEFLAGS=--eval=x make',
  'watch "git diff --output=x"',
  'watch -n 1 "ls; git diff --output=x"',
  'watch "ls $x"',
  "su a -c 'git diff --output=x'",
  "script -qc 'git diff --output=x' f",
  "su a -c 'ls '$x",
  'export GOFLAGS2=x; go test',
  'GOENV=x; export GOENV; go test',
  'PATH=x; ls',
  'set -a; X=1; ls',
  'set -ea; X=1; ls',
  'set -o allexport; X=1; ls',
  'set $x; X=1; ls',
  'shopt -so allexport; X=1; ls',
  "bash -ac 'x=1; ls'",
  "sg staff -c 'git diff --output=x'",
  "sg staff 'ls '$x",
  "strace -o '|id' ls",
  "strace -fo '|id' ls",
  "strace --output='|id' ls",
  'ssh -o IdentityAgent=x host',
  'ssh -oControlPath=x host',
  'ssh -vo UserKnownHostsFile=x host',
  'ssh host -o ProxyCommand=id ls',
  'ssh -o StrictHostKeyChecking=no host',
  'ssh -S x host',
  'ssh -F x host',
  ...['-A', '-X', '-Y', '-K', '-L 1:h:2', '-R 1:h:2', '-D 1', '-W h:2', '-J h'].map((option) => `ssh ${option} host`),
  'uniq a b',
  'uniq -f 1 a b',
  'uniq -- a b',
  'uniq src/*',
  'uniq -f $x',
  'xxd a b',
  'xxd -r a b',
  'xxd -ps a b',
  'xxd -cg a b',
  'hostname x',
  'date 010203042026',
  "mysql -e 'system id'",
  "mysql -e '\\! id'",
  "mysql -e 'select 1; system id'",
  'mysql -e \'select 1 into outfile "f"\'',
  'mysql -e \'select 0x3c3f \u2028 into outfile "/var/www/x.php"\' app',
  "mysql -e 'select 1 /*!50000into outfile 0x66 */'",
  "mysql -e 'select 1e1into outfile 0x66'",
  "mysql -e 'select sys_exec(0x6964)'",
  "mysql -e 'select 1 for update'",
  "mysql -e 'select 1 for share'",
  "mysql -e 'select x from t lock in share mode'",
  "mysql -e 'explain analyze update a, b set a.x = 1'",
  "mysql -Ne 'tee f'",
  'mysql --init-command=x',
  'mysql -h x --pager=id',
  'mariadb --defaults-file=x',
  'echo system id | mysql',
];

/** A person may trust exactly these: the text says what is set. */
const SETTING = [
  'NPM_CONFIG_SCRIPT_SHELL=./x npm test',
  'PSQLRC=x psql -l',
  'LIBMYSQL_PLUGINS=x ls',
  'DOTNET_STARTUP_HOOKS=x dotnet test',
  'BUNDLE_GEMFILE=x bundle list',
  'GOENV=x go test',
  'PIP_INDEX_URL=x pip list',
];

describe('a pattern that trusts a command that reads', () => {
  it.each(ACTING)('covers by trust in a reading command no arguments by which it writes or runs something: %s', (command) => {
    expect(judge(command)).toMatchObject({ effect: 'ask', trustOptions: [] });
  });

  it.each(SETTING)('does not cover variables that programs may heed: %s', (command) => {
    const { effect, trustOptions = [] } = judge(command);
    expect([effect, trustOptions.map(({ id }) => id)]).toEqual(['ask', ['command-full']]);
  });

  it.each([
    'git diff --text --stat src/*.ts',
    'git diff -- *.ts',
    'git log --output-indicator-new=x -Somega',
    'git rev-list --objects --filter=blob:none HEAD',
    'git config --get user.name',
    'git config user.name x',
    'rg -n --pre-glob x a',
    'sort -rk2o x',
    'find . -name "*.ts"',
    'tar -tzf x.tgz',
    'curl -fsSL https://example.com',
    'npm ls --global',
    'ls *',
    '[[ -n $HOME ]]; ls',
    'echo $(( x[1] + 2 ))',
    'find . | xargs grep x',
    'sqlite3 ./x.db .tables',
    'ssh -o BatchMode=yes host',
    'ssh -4 -p 22 -oConnectTimeout=5 -l me host ls -o x',
    'env NODE_ENV=test ls',
    'NODE_ENV=test npm test',
    'CI=1 FORCE_COLOR=0 npm test',
    'X=1; ls',
    'set -eu; X=1; ls',
    'set -- -a $x; ls',
    "sg staff -c 'git diff --stat'",
    'watch -n 1 ls -l',
    'watch "git diff --stat"',
    'strace -f -e open ls',
    'uniq -c a',
    'uniq -f 1 -',
    'xxd -l 16 f',
    'xxd -c8 -g 1 f',
    'hostname -f',
    'date -d 2026-01-02 +%F',
    "mysql -h db -u me -Ne 'select name from t where x = 1;' shop",
    "mysql --user=me --compress -e 'select 1' shop",
    "sed -n '1,5p;$!d' f",
    "sed -E 's#a/b#c#g; s|x|y|2' f",
    'curl -d a=b https://example.com',
    'curl --data a=b https://example.com',
    'find . | xargs git log --',
  ])('covers by trust in a reading command other arguments: %s', (command) => expect(judge(command).effect).toBe('allow'));

  it('covers no option that acts, however it is abbreviated, bundled, quoted and placed', () => {
    const longs: readonly { program: string; name: string; least: number }[] = [
      { program: 'git diff', name: 'output', least: 2 },
      { program: 'git log', name: 'ext-diff', least: 3 },
      { program: 'sort', name: 'output', least: 1 },
      { program: 'rg', name: 'pre', least: 2 },
      { program: 'tar', name: 'to-command', least: 2 },
      { program: 'sed', name: 'in-place', least: 1 },
    ];
    const long = fc
      .tuple(fc.constantFrom(...longs), fc.nat(), fc.constantFrom('=x', ' x', ''))
      .map(([{ program, name, least }, more, value]) => ({
        program,
        option: `--${name.slice(0, least + (more % (name.length - least + 1)))}${value}`,
      }));
    const short = fc
      .tuple(
        fc.constantFrom(['sort', 'o', 'bdfgnru'], ['rg', 'z', 'nilsu'], ['fd', 'x', 'HILsu'], ['sed', 'i', 'nErsu'], ['curl', 'o', 'sSLf']),
        fc.array(fc.nat(4), { maxLength: 4 }),
      )
      .map(([[program = '', letter = '', others = ''], before]) => ({
        program,
        option: `-${before.map((at) => others[at]).join('')}${letter}`,
      }));
    const quoted = (text: string, how: number) => [text, `'${text}'`, `"${text}"`, `${text.slice(0, 2)}\\${text.slice(2)}`][how] ?? text;
    const words = fc.array(fc.constantFrom('a', 'b/c', '-n', '-r'), { maxLength: 3 });
    fc.assert(
      fc.property(fc.oneof(long, short), words, words, fc.nat(3), ({ program, option }, before, after, how) => {
        const [name = '', ...value] = option.split(' ');
        expect(judge([program, ...before, quoted(name, how), ...value, ...after].join(' ')).effect).toBe('ask');
      }),
    );
  });
});
