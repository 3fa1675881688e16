/**
 * Files that make a later command, or a program of the person, run code unrequested: `git status` runs programs from
 * `.git/config`. Complete list, each with its reason. Criterion: the program that reads the file does not otherwise run code of
 * the workspace. Excludes sources, tests, `package.json`, Makefiles and `conftest.py`: their programs exist to run the
 * workspace, never count as read-only, and run without approval only if a policy allows it.
 */
const IN_FOLDERS: readonly (readonly [names: string, reason: string])[] = [
  ['.git *.git', 'git runs programs that its configuration names (core.fsmonitor, core.sshCommand, aliases, filters) and its hooks'],
  ['.githooks .husky', 'git runs the hooks in it where core.hooksPath names it'],
  ['.config/git', 'git reads it like .gitconfig'],
  ['.config/gh .config/hub .config/glab-cli .config/lazygit .config/tig', 'gh and other clients of git run aliases and commands in it'],
  ['.subversion', 'svn runs the diff programs and tunnels that its configuration names'],
  ['.hg .sl .jj .config/hg .config/jj', 'this version control runs hooks, aliases and diff programs that its configuration names'],
  ['.ssh', 'ssh, and git over it, runs the ProxyCommand of its configuration'],
  ['.gnupg', 'gpg, and git that signs, runs the agent that its configuration names'],
  ['.aws', 'aws runs the credential_process of its configuration'],
  [
    '.config/fish .config/nushell .config/powershell .config/xonsh .config/zsh .config/bash .config/elvish .oh-my-zsh .bashrc.d .bash.d ' +
      '.zshrc.d .profile.d',
    'shells run it when they start',
  ],
  ['.config/direnv .config/mise .mise', 'direnv or mise runs it in every shell that enters the folder'],
  [
    '.local/bin .cargo/bin .deno/bin .bun/bin .dotnet/tools .krew/bin .npm-global .nvm .volta .asdf .sdkman .pyenv .rbenv .rustup',
    'it is on the PATH of many logins: a file in it takes the place of a program',
  ],
  [
    '.config/autostart .config/systemd .config/environment.d .config/plasma-workspace .config/i3 .config/sway .config/hypr LaunchAgents ' +
      'LaunchDaemons',
    'the desktop, systemd or launchd starts the programs that it names',
  ],
  ['.docker .kube', 'docker or kubectl runs the credential helpers and plugins that it names'],
  ['.terraform .terraform.d', 'terraform starts the plugins in it, also to read'],
  ['.yarn/releases .yarn/plugins .yarn/sdks', 'yarn and editors run it in place of what is installed'],
  ['.bundle', 'ruby programs take from it where their libraries are'],
  [
    '.vscode .idea .devcontainer .zed .fleet .theia .nova .run .helix .config/helix',
    'editors run its tasks, and programs that its settings name, when the folder is opened',
  ],
  [
    '.vim .nvim .config/nvim .emacs.d .config/emacs .doom.d .config/doom .config/kak .config/micro .config/gdb .config/tmux .config/zellij ' +
      '.byobu .julia/config .config/mpv .config/radare2',
    'the program runs it when it starts',
  ],
  ['.ipython .jupyter', 'ipython or jupyter runs it when it starts'],
  [
    '.claude/hooks .claude/plugins .claude/agents .claude/commands .claude/skills .kiro/hooks .kiro/settings .codex .gemini .opencode ' +
      '.amazonq .qwen .continue',
    'agents run the hooks, commands and servers in it',
  ],
];

/** Folders of installed programs, which are named by commands that run them as well. */
const PROGRAM_FOLDERS: readonly (readonly [names: string, reason: string])[] = [
  ['node_modules/.bin', 'npm, npx and hooks of git run it, as an allowed npm test does: a file in it takes the place of a program'],
  [
    '.venv/bin .venv/scripts venv/bin venv/scripts env/bin env/scripts virtualenv/bin virtualenv/scripts .virtualenvs .tox .nox .direnv .pixi ' +
      '.conda/bin',
    'Python and its tools are run from it once the environment is active: a file in it takes the place of a program',
  ],
  ['vendor/bin vendor/bundle', 'composer and bundler run the programs of packages from it'],
  ['.gradle/wrapper .mvn/wrapper .m2/wrapper', 'gradlew and mvnw run the build program that is stored in it'],
];

/** The last names of a path. */
const AS_FILES: readonly (readonly [names: string, reason: string])[] = [
  ['head', 'git takes a folder with this file for a repository, and runs what the file config beside it says'],
  ['.gitconfig gitconfig *.gitconfig .gitconfig.local', 'git runs programs that its configuration names'],
  ['.gitattributes', 'it has git run configured filters, diff and merge programs'],
  ['.gitmodules .lfsconfig', 'it says where git fetches further repositories and files from'],
  ['.hgrc .hgsub .jjconfig.toml', 'this version control runs hooks and programs that it names'],
  [
    'applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit prepare-commit-msg commit-msg post-commit pre-rebase ' +
      'post-checkout post-merge pre-push pre-auto-gc post-rewrite post-index-change fsmonitor-watchman reference-transaction',
    'git runs a hook of this name where core.hooksPath names its folder',
  ],
  [
    '.pre-commit-config.yaml .pre-commit-config.yml prek.toml .overcommit.yml .huskyrc .huskyrc.json .huskyrc.js .simple-git-hooks.json ' +
      '.simple-git-hooks.js .simple-git-hooks.cjs simple-git-hooks.js simple-git-hooks.cjs .lintstagedrc .commitlintrc ' +
      ['.lintstagedrc', 'lint-staged.config', '.commitlintrc', 'commitlint.config']
        .flatMap((it) => ['json', 'yaml', 'yml', 'js', 'cjs', 'mjs', 'ts'].map((ending) => `${it}.${ending} `))
        .join('') +
      ['lefthook', '.lefthook', 'lefthook-local', '.lefthook-local']
        .flatMap((it) => [`${it}.yml`, `${it}.yaml`, `${it}.toml`, `${it}.json`])
        .join(' '),
    'installed hooks of git run the commands in it',
  ],
  [
    '.profile .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .zshrc .zshenv .zprofile .zlogin .zlogout .kshrc .mkshrc .cshrc ' +
      '.tcshrc .login .logout .xprofile .xinitrc .xsession .xsessionrc .pam_environment .bash_completion .xonshrc .shrc .shinit .ashrc .dashrc .yashrc ' +
      '.inputrc .fzf.bash .fzf.zsh .p10k.zsh .config/starship.toml *profile.ps1',
    'shells run it when they start or end',
  ],
  [
    '.envrc .direnvrc .autoenv.zsh mise.toml .mise.toml mise.local.toml .mise.local.toml mise/config.toml .rtx.toml',
    'direnv, autoenv or mise runs it in every shell that enters the folder',
  ],
  [
    '.npmrc .yarnrc .yarnrc.yml .pnpmfile.js .pnpmfile.cjs .pnpmfile.mjs .pnp.cjs .pnp.loader.mjs bunfig.toml .bunfig.toml .gemrc',
    'package managers run programs that it names, also to list packages',
  ],
  [
    'pip.conf .pypirc uv.toml .condarc .mambarc .config/nix/nix.conf',
    'package managers take packages, which are programs, from where it says',
  ],
  ['sitecustomize.py usercustomize.py site-packages/*.pth dist-packages/*.pth', 'every program in Python runs it when it starts'],
  ['.rprofile .renviron', 'every program in R runs it, or what it names, when it starts'],
  ['pyvenv.cfg', 'every program of the environment takes its Python from where it says'],
  ['.config/go/env', 'go runs the compilers and tools that it names, also to list packages'],
  ['.terraformrc terraform.rc', 'terraform starts the plugins that it names'],
  ['.cargo/config .cargo/config.toml', 'cargo runs the compilers and wrappers that it names, also to read metadata'],
  ['rust-toolchain rust-toolchain.toml .tool-versions', 'it says which folder the programs of a language are run from'],
  ['ansible.cfg .ansible.cfg', 'ansible loads the plugins that it names, also to list hosts'],
  ['.latexmkrc latexmkrc', 'latexmk runs it as a program in Perl'],
  ['.forward .procmailrc .mailcap .muttrc', 'mail programs run commands in it'],
  ['.kubeconfig', 'kubectl runs the credential plugins that it names'],
  ['.curlrc .wgetrc .lesskey .lessfilter', 'the program takes options from it, which may name files to write and programs to run'],
  [
    '.vimrc _vimrc .exrc .nvimrc .nvim.lua .lvimrc .emacs .dir-locals.el .dir-locals-2.el .ycm_extra_conf.py .gdbinit .lldbinit .screenrc ' +
      '.tmux.conf .psqlrc .sqliterc sqliterc .duckdbrc .my.cnf .mongorc.js .mongoshrc.js .irbrc .pryrc .ripgreprc .ackrc .pdbrc .pythonrc ' +
      '.pythonrc.py .pythonstartup.py .ghci .ocamlinit .utoprc .octaverc .juliarc.jl .iex.exs .erlang .perldb .sbclrc .spacemacs .kakrc ' +
      '.gdbearlyinit .radare2rc .tigrc .xbindkeysrc .wezterm.lua aria2.conf yt-dlp.conf',
    'the program that reads it at its start runs commands in it',
  ],
  ['*.code-workspace *.sublime-project .devcontainer.json .gitpod.yml', 'editors run its tasks, and programs that its settings name'],
  [
    '.mcp.json .cursor/mcp.json .cursor/hooks.json .roo/mcp.json .vscode/mcp.json .windsurf/mcp_config.json .claude.json ' +
      '.claude/settings.json .claude/settings.local.json opencode.json opencode.jsonc .crush.json .aider.conf.yml',
    'agents start the servers and hooks that it names',
  ],
];

interface Entry {
  readonly names: readonly string[];
  /** True if only the last names of a path count. */
  readonly isLast: boolean;
  readonly isProgram: boolean;
  readonly reason: string;
}

const entries = (table: typeof AS_FILES, { isLast = false, isProgram = false } = {}): Entry[] =>
  table.flatMap(([texts, reason]) => texts.split(' ').map((text) => ({ names: text.split('/'), isLast, isProgram, reason })));
const ENTRIES = [...entries(IN_FOLDERS), ...entries(PROGRAM_FOLDERS, { isProgram: true }), ...entries(AS_FILES, { isLast: true })];

/**
 * Names that a path has where it leads to such a file, without those of which only the ending counts, and without the folders of
 * installed programs, whose names are common: `mkdir {src,scripts}`.
 */
export const AUTO_RUN_NAMES: readonly string[] = [
  ...new Set(ENTRIES.filter(({ isProgram }) => !isProgram).flatMap(({ names }) => names)),
].filter((it) => !it.startsWith('*'));

/**
 * Reason why later commands run a file; undefined for other files. Accepts any path without `.` and `..`, and globs of paths,
 * by their plain names. Ignores case and other spellings of a name, since some file systems do.
 * @param isWritten false for a word that a command may only run: installed programs are left out
 */
export function autoRunReason(path: string, isWritten = true): string | undefined {
  const names = path
    .split('/')
    .filter((it) => it !== '')
    .map(plainName);
  return ENTRIES.find((entry) => (isWritten || !entry.isProgram) && fits(entry, names))?.reason;
}

/** No file system has longer ones. */
const LONGEST_NAME = 255;

function fits({ names: wanted, isLast }: Entry, names: readonly string[]): boolean {
  const last = names.length - wanted.length;
  for (let at = isLast ? last : 0; at >= 0 && at <= last; at++)
    if (wanted.every((it, index) => isName(names[at + index] ?? '', it))) return true;
  return false;
}

function isName(name: string, wanted: string): boolean {
  return wanted.startsWith('*') ? name.endsWith(wanted.slice(1)) : name === wanted;
}

/**
 * Name as read by file systems that equate spellings: case, compatible characters, invisible characters (HFS+), dots and spaces
 * at the end, streams and short names (NTFS).
 */
function plainName(name: string): string {
  if (name.length > LONGEST_NAME) return name;
  const plain = name
    .normalize('NFKC')
    .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '')
    .toLowerCase()
    .replace(/:.*$/s, '')
    .replace(/[. ]+$/, '');
  return /^git~\d+$/.test(plain) ? '.git' : plain;
}
