import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { NO_GRANTS } from '#contracts';
import { decide } from './decide.js';
import { autoRunReason } from './auto-run/auto-run-files.js';
import { factsOf, UNATTENDED, WORKSPACE, type Circumstances } from './testing/call-facts.js';

const READS_RUN: Circumstances = { policy: { commands: { autoAllowReadonly: true } } };
const written = (path: string, circumstances: Circumstances = READS_RUN) => {
  const { effect, reasons } = decide(factsOf('file_write', { path }, circumstances));
  return [effect, reasons.find(({ rule }) => rule === 'auto-run-file')?.effect] as const;
};
const run = (command: string, allowed: string, args: object = {}) =>
  decide(
    factsOf(
      'shell',
      { command, ...args },
      { policy: { commands: { ...READS_RUN.policy?.commands, engines: ['rules'], classify: false, allowedCommands: [allowed] } } },
    ),
  ).effect;
const asks = (command: string, allowed = '[\\s\\S]*') => run(command, allowed) === 'ask';

const FILES =
  '.git/config .git/hooks/x .git .git/worktrees/a/config.worktree .git/modules/a/config bare.git/config sub/HEAD .gitattributes ' +
  'a/.gitattributes .gitmodules .gitconfig x.gitconfig .config/git/config .husky/pre-commit .githooks/x hooks/pre-commit .bashrc a/.profile ' +
  '.zshrc .bash_profile .xsessionrc .npmrc .envrc .vscode/tasks.json .cargo/config.toml rust-toolchain.toml .ssh/config .hg/hgrc .hgrc .jj/repo/config.toml ' +
  '.gnupg/gpg.conf .aws/config .config/nushell/config.nu .bashrc.d/a .config/direnv/direnvrc mise.toml .local/bin/ls .config/environment.d/a ' +
  '.kube/kuberc .terraform/providers/x .yarn/releases/yarn.cjs .bundle/config .zed/tasks.json .config/nvim/init.lua .ipython/a .codex/config.toml ' +
  '.lefthook-local.toml lefthook.json prek.toml .lintstagedrc profile.ps1 .pnp.cjs bunfig.toml pip.conf sitecustomize.py ' +
  '.venv/lib/python3.12/site-packages/a.pth .Rprofile .config/go/env .terraformrc .curlrc .wgetrc .lesskey .nvim.lua .my.cnf .irbrc ' +
  'a.code-workspace .cursor/hooks.json .claude.json .config/gh/config.yml .config/zsh/.zshrc .profile.d/a.sh .cargo/bin/ls .nvm/nvm.sh ' +
  '.config/i3/config .helix/languages.toml .doom.d/config.el .claude/commands/a.md .gitconfig.local .inputrc .rtx.toml uv.toml .Renviron ' +
  'venv/pyvenv.cfg .tool-versions ansible.cfg .latexmkrc .forward .pdbrc .ghci .iex.exs yt-dlp.conf .windsurf/mcp_config.json .aider.conf.yml ' +
  'node_modules/.bin/jest packages/a/node_modules/.bin .venv/bin/pytest venv/Scripts/activate.bat vendor/bin/phpunit .tox/py312/bin/python ' +
  'lint-staged.config.mjs .lintstagedrc.json commitlint.config.cjs .huskyrc.js .gradle/wrapper/dists/a/gradle-8.5/bin/gradle .mvn/wrapper/maven-wrapper.jar';
const spelt = fc
  .tuple(
    fc.constantFrom(...FILES.split(' ')),
    fc.constantFrom('', './', 'a/../', 'src//', `${WORKSPACE}/`, `${WORKSPACE}/a/.././`),
    fc.infiniteStream(fc.boolean()),
  )
  .map(([file, before, upper]) => {
    const letters = file.split('').map((it) => (upper.next().value === true ? it.toUpperCase() : it.toLowerCase()));
    return `${before}${letters.join('')}`;
  });

describe('a file that later commands run', () => {
  it('asks about files that later commands run, in every spelling, although other workspace writes are not asked about', () => {
    fc.assert(fc.property(spelt, (path) => expect([path, ...written(path)]).toEqual([path, 'ask', 'ask'])));
    for (const path of [
      '.git./config',
      '.GIT ./config',
      'git~1/config',
      '.g\u200cit/config',
      '.git::$INDEX_ALLOCATION/config',
      '\u017fub/head',
    ])
      expect([path, ...written(path)]).toEqual([path, 'ask', 'ask']);
  });

  it('treats no usual source file of a workspace as run by later commands', () => {
    const files =
      'src/index.ts package.json Makefile conftest.py setup.py pyproject.toml .gitignore .github/workflows/ci.yml git/config src/head/a.ts ' +
      'head.ts .eslintrc.json .env config a.git.md .gitkeep README.md ssh/config model.pth .editorconfig local/bin/a aws/config ' +
      'bin/run node_modules/a/index.js vendor/a/b.go src/env/a.ts gradle/libs.versions.toml';
    for (const path of files.split(' ')) expect([path, ...written(path)]).toEqual([path, 'allow', undefined]);
  });

  it('asks about such files for tools of other sources too, which may read or write several', () => {
    const tool = {
      ...factsOf('file_write', {}).tool,
      name: 'put',
      source: 'files',
      subjects: [{ kind: 'path', argument: 'paths', access: 'write' }],
    };
    const facts = (paths: string[]) => ({ ...factsOf('file_write', { paths }), tool: tool as ReturnType<typeof factsOf>['tool'] });
    expect(decide(facts(['a', 'b/.npmrc'])).effect).toBe('ask');
    expect(decide(facts(['a', 'b'])).effect).toBe('allow');
    expect(decide(factsOf('file_read', { path: '.git/config' })).effect).toBe('allow');
  });

  it('counts no folders around the workspace among files that later commands run', () => {
    expect(decide({ ...factsOf('file_write', { path: 'a' }), workspaceRoot: '/home/.git/.vscode' }).effect).toBe('allow');
  });
});

describe('trust in a file that later commands run', () => {
  const literal = (...write: string[]) => ({ allowed: { read: [], write }, denied: { read: [], write: [] } });
  const effect = (circumstances: Circumstances) => written('.git/config', circumstances)[0];

  it('trusts a file that later commands run by its name, by a folder or glob of such files, or by the policy', () => {
    expect(effect({ grants: { literalPaths: literal(`${WORKSPACE}/.git/config`) } })).toBe('allow');
    expect(effect({ grants: { literalPaths: literal(`${WORKSPACE}/.git`) } })).toBe('allow');
    expect(effect({ grants: { allowedPaths: { read: [], write: ['**/.git/**'] } } })).toBe('allow');
    expect(effect({ policy: { paths: { trusted: [{ tools: ['file_write'], allowed: ['.git/config'], denied: [] }] } } })).toBe('allow');
  });

  it('trusts no file that later commands run by a folder around it, the tool, the model or a wider glob', () => {
    expect(effect({ grants: { literalPaths: literal(WORKSPACE) } })).toBe('ask');
    expect(effect({ grants: { allowedPaths: { read: ['.git'], write: ['**', '.', '*/config'] } } })).toBe('ask');
    expect(effect({ grants: { trustedTools: ['file_write'] } })).toBe('ask');
    expect(effect({ policy: { allowedTools: ['*'] } })).toBe('ask');
    expect(decide(factsOf('file_write', { path: '.git/config', approved: true }, { profile: 'zeroclaw' })).effect).toBe('ask');
  });
});

describe('in an unattended session, writing a file that later commands run', () => {
  it.each([
    ['core', 'allow'],
    ['claw', 'allow'],
    ['phi', 'allow'],
    ['zeroclaw', 'deny'],
    ['oxydra', 'deny'],
    ['kiro', 'ask'],
  ] as const)('answers in an unattended session as the engine of %s does: %s', (profile, expected) => {
    expect(written('.git/config', { posture: UNATTENDED, profile })).toEqual([expected, expected]);
    expect(written('src/a.ts', { posture: UNATTENDED, profile })[0]).toBe('allow');
  });
});

describe('a command that may write a file that later commands run', () => {
  const WRITES = [
    'echo x > .git/config',
    'cat <<< x >> sub/.GITATTRIBUTES',
    'cp a .git/config',
    'cp -t.git/hooks a',
    'cp --target-directory=.husky a',
    'mv a .envrc',
    'tee .bashrc',
    'echo x | tee -a a .npmrc',
    "sed -i 's/a/b/' .git/config",
    'ln -s ../x .git/hooks/pre-commit',
    'dd of=.git/config',
    'cd .git && cp ../a config',
    'cd .git',
    'F=.git/config; cp a $F',
    'cp a .gi*/config',
    'cp a {.git,b}/config',
    'cp a $TARGET',
    'echo x > "$TARGET"',
    'mv a HEAD',
    'git mv a .gitattributes',
    'git checkout other -- .gitattributes',
    'sh -c "cp a .git/config"',
    'find . -name a -exec cp a .git/config ";"',
    'ls | xargs -I{} cp {} .git/hooks/',
    'tar xf a.tar',
    'tar --extract --file=a.tar -C sub',
    'tar -zxf a.tgz',
    'tar --get -f a.tar',
    'bsdtar -xf a.tar',
    'tar --extrac -f a.tar',
    'unzip -Pt a.zip',
    'unzip a.zip -dvendor',
    'unzip a.zip -d -l',
    'patch -z --dry-run < a.patch',
    'npm --prefix d config set script-shell bash',
    'unzip a.zip -d sub',
    '7z x a.7z',
    'cpio -i < a.cpio',
    'cpio --extract < a.cpio',
    'ar x a.deb',
    'patch -p1 < a.patch',
    'git apply a.patch',
    'git am a.mbox',
    'git clone https://example.com/a/b.git .husky',
    'git clone https://example.com/a/.vscode',
    'git clone git@example.com:a/.vscode.git',
    'git init .git/modules/x',
    'git clone a .git/modules/x',
    'wget -P.husky https://example.com/a',
    'git worktree add .vscode',
    'git submodule add https://example.com/a/b .husky',
    'wget https://example.com/.envrc',
    'wget https://example.com/.envrc?x=1',
    'npm config set script-shell bash',
    'npm set editor=x',
    'npm --global c set editor=x',
    'pnpm config set shell-emulator false',
    'yarn config set yarnPath x.js',
    'pip config set global.index-url http://127.0.0.1',
    'pip3 config edit',
    'bundle config set path x',
    'go env -w CC=x',
    'gunzip .envrc.gz',
    'xz -d .husky/pre-commit.xz',
    'npm pkg set scripts.test=x',
    'npm set-script test x',
    'wget -r https://example.com/',
    'wget --mi https://example.com/',
    'wget -4r https://example.com/',
    'wget -nHp https://example.com/',
    'wget -qi list',
    'wget --content-disposition https://example.com/a',
    'echo x > node_modules/.bin/jest',
    'cp -t node_modules/.bin a',
    'cp --target-directory=.venv/bin a',
    'ln -sf ../../a node_modules/.bin/jest',
    "sed -i '1a x' vendor/bin/phpunit",
    'curl -o .venv/bin/pytest https://example.com/a',
    'cd node_modules/.bin && cp ../../a jest',
    'env X=1 cp a node_modules/.bin/jest',
    'bash -c "cp a node_modules/.bin/jest"',
    'cp a node_modules/.bin/jest -f',
    'cp -tvendor/bin a',
    'install -m 755 a .venv/bin/pytest',
    'ln -s .venv/bin programs',
    'ls | xargs cp -t node_modules/.bin',
    'find . -name a -exec cp a .venv/bin/a ";"',
    'find . -fprintf vendor/bin/a x',
    'gcc -ovendor/bin/a a.c',
    'esbuild a.js --outfile=node_modules/.bin/a',
    'go build -o .venv/bin/a .',
    'chmod +x node_modules/.bin/jest',
    "perl -pi -e 's/a/b/' vendor/bin/phpunit",
    'F=node_modules/.bin/jest; sed -i s/a/b/ $F',
    'sudo tee -a .venv/bin/pytest < a',
    'dd of=.venv/bin/pytest conv=notrunc',
    'gunzip node_modules/.bin/jest.gz',
    'git checkout other -- vendor/bin/phpunit',
    'git clone https://example.com/a .venv/bin',
    'wget -O node_modules/.bin/jest https://example.com/a',
    'scp host:a .venv/bin/',
    'mv a .gradle/wrapper/a',
    'rsync -a programs/ vendor/bin/',
    'printf %s x | sponge .venv/bin/a',
  ];
  it.each(WRITES)('asks about a command that may write a file that later commands run although a pattern allows its words: %s', (command) =>
    expect(asks(command)).toBe(true),
  );

  it.each([
    'cat .git/config',
    'ls -la .git .vscode',
    'git add .gitattributes',
    'git commit -m "update .gitmodules"',
    'git checkout HEAD -- src/a',
    'git log HEAD -- .gitattributes',
    'git clone git@example.com:a/b.git',
    'grep -rn x .vscode > out.txt',
    "sed -n '1,5p' .npmrc",
    'echo "see .git/config" > notes.md',
    'cp src/*.ts dist/',
    'cp $A dist/',
    'node scripts/build.js && touch done',
    'tar tf a.tar',
    'tar -cf a.tar --exclude x src',
    'tar --list -f a.tar',
    'unzip -l a.zip',
    '7z l a.7z',
    'patch --dry-run -p1 < a.patch',
    'git apply --check a.patch',
    'git clone https://example.com/a/b.git b',
    'git clone --depth 1 x.git y',
    'git worktree add review',
    'wget https://example.com/a/b.html',
    'npm config get registry',
    'npm run set',
    'go env GOPATH',
    'mkdir -p app/{src,scripts,tests}',
    'rm -rf {node_modules,dist}',
    'node_modules/.bin/jest --ci',
    'node --inspect node_modules/.bin/jest',
    'CI=1 time node_modules/.bin/tsc --noEmit',
    'source .venv/bin/activate && pytest -q',
    '.venv/bin/python3.12 -m pytest',
    'python3 .venv/bin/pytest',
    'php8.3 vendor/bin/phpunit',
    'ls -la node_modules/.bin',
    'rm -rf node_modules .venv vendor',
    './gradlew test',
  ])('allows a command that writes no file that later commands run: %s', (command) => expect(asks(command)).toBe(false));

  it.each([
    'make PYTHON=.venv/bin/python test',
    'find . -name "*.py" -exec .venv/bin/black {} +',
    'uv pip --python .venv/bin/python install x',
    'uv venv --python venv/bin/python3 other',
    'cp .venv/bin/pytest dist/',
    'cp -r node_modules/.bin dist/a',
    'dd if=.venv/bin/python of=a',
    'rsync -a .venv/bin/ dist/',
    'tox -e py312 -- .tox/py312/bin/python',
    'cargo test -- vendor/bin/a',
    'strace .venv/bin/python a.py',
    'find . -type f | xargs .venv/bin/black',
    'hyperfine "node_modules/.bin/jest --ci"',
    'cd node_modules/.bin && ls -la 2>/dev/null',
    'PHPUNIT=vendor/bin/phpunit composer test',
    'docker run -v .venv/bin:/x image',
  ])('asks nothing for the files of installed programs that a command names and does not write: %s', (command) => {
    const { reasons } = decide(factsOf('shell', { command }, READS_RUN));
    expect(reasons.filter(({ rule }) => rule === 'auto-run-file')).toEqual([]);
  });

  it('asks about a command that is started in a folder of files that later commands run', () => {
    expect(run('cp ../a config', 'cp .*', { working_dir: '.git' })).toBe('ask');
    expect(run('cp ../a config', 'cp .*', { working_dir: 'src' })).toBe('allow');
  });

  it('allows a command that writes such a file by a pattern for this command alone', () => {
    expect(asks('cp a .git/config', '^(?:cp a \\.git/config)$')).toBe(false);
    expect(asks('cp a .git/config', 'cp a \\.git/config')).toBe(false);
    expect(asks('cp a .git/config', 'cp a .git/config')).toBe(true);
    expect(asks('cp a .git/config', 'cp \\w \\.git/config')).toBe(true);
  });

  it('trusts a command that writes such a file by the exact words a person approved', () => {
    const facts = factsOf('shell', { command: 'cp a .git/config' }, READS_RUN);
    const [full, partial] = decide(facts).trustOptions ?? [];
    const trusting = (option: typeof full) =>
      decide({ ...facts, grants: { ...NO_GRANTS, allowedCommands: option?.grants.allowedCommands ?? [] } }).effect;
    expect([full?.id, trusting(full), partial?.id, trusting(partial)]).toEqual(['command-full', 'allow', 'command-partial', 'ask']);
  });
});

describe('a command that reads', () => {
  it('treats git as reading only in the workspace itself, not in folders with repositories of their own', () => {
    const reading = (args: object) => decide(factsOf('shell', { command: 'git status', ...args }, READS_RUN)).effect;
    for (const working_dir of ['.', './', '']) expect([working_dir, reading({ working_dir })]).toEqual([working_dir, 'allow']);
    for (const working_dir of ['sub', 'a/..', '.git', '/srv'])
      expect([working_dir, reading({ working_dir })]).toEqual([working_dir, 'ask']);
    expect(decide(factsOf('shell', { command: 'ls', working_dir: 'sub' }, READS_RUN)).effect).toBe('allow');
  });
});

describe('the list of files that later commands run', () => {
  it('reads any path against the list of files that later commands run without throwing and in little time', () => {
    fc.assert(fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (path) => expect(() => autoRunReason(path)).not.toThrow()));
    expect(autoRunReason('a/'.repeat(2_048))).toBeUndefined();
    // Backtracking would not end here.
    for (const word of [`.{${'${'.repeat(20_000)}`, `.{${'{'.repeat(40_000)}`, `${'.'.repeat(40_000)}x`, 'a/'.repeat(40_000)])
      expect(['allow', 'ask']).toContain(run(`cp ${word}`, 'cp .*'));
  });
});
