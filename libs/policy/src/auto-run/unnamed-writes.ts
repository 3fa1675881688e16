import { actionOf } from '../shell/risk-class.js';
import { executableOf, type SubCommand } from '../shell/sub-command.js';

/** A program that writes files that its words do not name, when its arguments fit. */
interface Unnamed {
  readonly acts: (args: readonly string[]) => boolean;
  readonly reason: string;
}

const BY_CONTENT = 'what it unpacks or applies says which files it writes';
const CONFIG = 'it changes a configuration that names programs to run';

const some = (pattern: RegExp) => (args: readonly string[]) => args.some((arg) => pattern.test(arg));
const unless = (pattern: RegExp) => (args: readonly string[]) => !args.some((arg) => pattern.test(arg));
const TAR: Unnamed = {
  acts: (args) => /^[A-Za-z]*x/.test(args[0] ?? '') || some(/^-[A-Za-z]*x|^--(?:ex(?!clude)[a-z]*|get?)$/)(args),
  reason: BY_CONTENT,
};
const SEVEN_ZIP: Unnamed = { acts: some(/^[xe]$/), reason: BY_CONTENT };
/** Behind an option with a value, `--dry-run` is that value. */
const PATCH: Unnamed = {
  acts: (args) => !args.some((arg, at) => /^--(?:dry-run|check)$/.test(arg) && !/^-[A-Za-z]*[BDdFgioprVxYz]$/.test(args[at - 1] ?? '')),
  reason: BY_CONTENT,
};
/** `config`, `c` or `pkg` with an action that changes, in this order. */
const setsConfig = (actions: RegExp): Unnamed => ({
  acts: (args) => {
    const at = args.findIndex((arg) => /^(?:c|config|pkg)$/.test(arg));
    return at !== -1 && some(actions)(args.slice(at + 1));
  },
  reason: CONFIG,
});
const NODE_CONFIG = setsConfig(/^(?:set|delete|rm|edit|unset)$/);
const NPM: Unnamed = {
  acts: (args) => NODE_CONFIG.acts(args) || /^set(?:-script)?$/.test(args.find((arg) => !arg.startsWith('-')) ?? ''),
  reason: CONFIG,
};
const PIP = setsConfig(/^(?:set|unset|edit)$/);

const PROGRAMS: Readonly<Record<string, Unnamed>> = {
  '7z': SEVEN_ZIP,
  '7za': SEVEN_ZIP,
  '7zz': SEVEN_ZIP,
  ar: { acts: (args) => /^-?[A-Za-z]*x/.test(args[0] ?? ''), reason: BY_CONTENT },
  bsdtar: TAR,
  bundle: setsConfig(/^set$/),
  cpio: { acts: some(/^-[A-Za-z]*[ip]|^--(?:extract|pass-through)$/), reason: BY_CONTENT },
  go: { acts: (args) => args[0] === 'env' && some(/^--?[wu]$/)(args), reason: CONFIG },
  gpatch: PATCH,
  gtar: TAR,
  npm: NPM,
  patch: PATCH,
  pip: PIP,
  pip3: PIP,
  pnpm: NPM,
  tar: TAR,
  unar: { acts: () => true, reason: BY_CONTENT },
  unrar: SEVEN_ZIP,
  // Further words may be values of options.
  unzip: { acts: ([first = '']) => !/^-[aCjLMnoqTu]*[lptvzZ]/.test(first), reason: BY_CONTENT },
  wget: {
    acts: some(/^-(?:[A-Za-z0-9]*[irmp]|-(?:inp|rec|mi|content-d|tru|pag))/),
    reason: 'the server says which files it writes',
  },
  yarn: NODE_CONFIG,
};

const GIT_ACTIONS: Readonly<Record<string, Unnamed>> = {
  am: { acts: unless(/^--(?:abort|quit|skip|show-current-patch)/), reason: BY_CONTENT },
  apply: { acts: (args) => !some(/^--(?:check|stat|numstat|summary)$/)(args) || args.includes('--apply'), reason: BY_CONTENT },
};

/** Reason why a command may write files absent from its words; undefined if all are named, or none is written. */
export function unnamedWrites(command: SubCommand): string | undefined {
  const name = executableOf(command) ?? '';
  const table = name === 'git' ? GIT_ACTIONS : PROGRAMS;
  const key = name === 'git' ? (actionOf(command, name) ?? '') : name;
  const found = Object.hasOwn(table, key) ? table[key] : undefined;
  const args = command.words.slice(1).map(({ value }) => value);
  return found?.acts(args) === true ? `${key}: ${found.reason}, which later commands may run` : undefined;
}

/** Default file name for a download from an address: its last part. A path stays unchanged. */
export function storedName(address: string): string {
  const path = address.replace(/[?#].*$/s, '');
  const isAddress = path.includes('://') || /^[^/]+:[^/]/.test(path);
  const name = isAddress ? (path.split(/[/:]/).findLast((it) => it !== '') ?? '') : path;
  return /(?:^|\/)\.git$/.test(name) ? name : name.replace(/\.git\/?$/, '');
}
