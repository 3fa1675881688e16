/**
 * Files that make a later command, or a program of the person, run something that no one asked for: a `git status` runs what
 * `.git/config` says. All of them are here, each with its reason. A line belongs here when what reads the file does not
 * otherwise run code of the workspace. Sources, tests, `package.json`, Makefiles and `conftest.py` do not: what runs them is
 * there to run the workspace, never counts as a command that only reads, and runs unasked only where a policy says so.
 */
const IN_FOLDERS: readonly (readonly [names: string, reason: string])[] = [
  ['.git *.git', 'git runs programs that its configuration names (core.fsmonitor, core.sshCommand, aliases, filters) and its hooks'],
  ['.githooks .husky', 'git runs the hooks in it where core.hooksPath names it'],
  ['.config/git', 'git reads it like .gitconfig'],
  ['.ssh', 'ssh, and git over it, runs the ProxyCommand of its configuration'],
  ['.config/fish', 'fish runs it when it starts'],
  ['.config/autostart .config/systemd', 'the desktop or systemd starts the programs that it names'],
  ['.docker', 'docker runs the credential helpers and plugins that it names'],
  ['.vscode .idea .devcontainer', 'editors run its tasks, and programs that its settings name, when the folder is opened'],
  ['.claude/hooks .kiro/hooks', 'agents run these hooks'],
];

/** The last names of a path. */
const AS_FILES: readonly (readonly [names: string, reason: string])[] = [
  ['head', 'git takes a folder with this file for a repository, and runs what the file config beside it says'],
  ['.gitconfig gitconfig *.gitconfig', 'git runs programs that its configuration names'],
  ['.gitattributes', 'it has git run configured filters, diff and merge programs'],
  ['.gitmodules .lfsconfig', 'it says where git fetches further repositories and files from'],
  [
    'applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit prepare-commit-msg commit-msg post-commit pre-rebase ' +
      'post-checkout post-merge pre-push pre-auto-gc post-rewrite post-index-change fsmonitor-watchman reference-transaction',
    'git runs a hook of this name where core.hooksPath names its folder',
  ],
  [
    '.pre-commit-config.yaml .pre-commit-config.yml lefthook.yml lefthook.yaml .lefthook.yml .lefthook.yaml',
    'installed hooks of git run the commands in it',
  ],
  [
    '.profile .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .zshrc .zshenv .zprofile .zlogin .zlogout .kshrc .mkshrc .cshrc ' +
      '.tcshrc .login .logout .xprofile .xinitrc .pam_environment',
    'shells run it when they start or end',
  ],
  ['.envrc', 'direnv runs it in every shell that enters the folder'],
  ['.npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs .pnpmfile.mjs', 'package managers run programs that it names, also to list packages'],
  ['.cargo/config .cargo/config.toml', 'cargo runs the compilers and wrappers that it names, also to read metadata'],
  ['rust-toolchain rust-toolchain.toml', 'it says which folder cargo and rustc are run from'],
  ['.kube/config', 'kubectl runs the credential plugins that it names'],
  [
    '.vimrc .exrc .nvimrc .emacs .dir-locals.el .gdbinit .lldbinit .screenrc .tmux.conf .psqlrc .sqliterc .ripgreprc',
    'the program that reads it at its start runs commands in it',
  ],
  ['.mcp.json .cursor/mcp.json .claude/settings.json .claude/settings.local.json', 'agents start the servers and hooks that it names'],
];

interface Entry {
  readonly names: readonly string[];
  /** Only the last names of a path. */
  readonly isLast: boolean;
  readonly reason: string;
}

const entries = (table: typeof AS_FILES, isLast: boolean): Entry[] =>
  table.flatMap(([texts, reason]) => texts.split(' ').map((text) => ({ names: text.split('/'), isLast, reason })));
const ENTRIES = [...entries(IN_FOLDERS, false), ...entries(AS_FILES, true)];

/** Names that a path has where it leads to such a file, without those of which only the ending counts. */
export const AUTO_RUN_NAMES: readonly string[] = [...new Set(ENTRIES.flatMap(({ names }) => names))].filter((it) => !it.startsWith('*'));

/**
 * Why a file is one of them; undefined when it is none. Takes any path without `.` and `..`, and globs of paths: one counts
 * when its plain names do. Upper and lower case are the same, since they are on some file systems; so are other spellings of a name.
 */
export function autoRunReason(path: string): string | undefined {
  const names = path
    .split('/')
    .filter((it) => it !== '')
    .map(plainName);
  return ENTRIES.find((entry) => fits(entry, names))?.reason;
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
 * What file systems that do not keep names apart take a name for: no case, compatible characters, characters that are not
 * seen (HFS+), dots and spaces at the end, streams and short names (NTFS).
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
