import type { ShellWord, SubCommand } from './sub-command.js';
import { actionOf } from './risk-class.js';

/** Options by which a program that reads writes a file or runs another program. */
interface ActingOptions {
  /** Names after `--`; a prefix of one counts too, since option parsers take abbreviations. */
  readonly long?: string;
  /** Letters after `-`, alone or among other letters. */
  readonly short?: string;
  /** Letters that take the rest of their word as a value. */
  readonly valued?: string;
  /** Long options of other meaning that are prefixes of one in `long`. */
  readonly harmless?: string;
  /** Any word with this effect. */
  readonly word?: RegExp;
  /** Options also stand behind `--`. */
  readonly endless?: true;
  /** The first word with this effect: letters without `-`. */
  readonly bundle?: RegExp;
}

const AWK: ActingOptions = {
  long: 'file include load exec dump-variables profile pretty-print debug',
  short: 'filEdpoD',
  valued: 'Fv',
};

const TEST: ActingOptions = { endless: true, word: /^-[vR]$/ };

/** Another program to run, a plug-in, a folder of programs, or a file of such options. */
const COMPILER: ActingOptions = { endless: true, word: /^(?:-wrapper|-fplugin|-fpass-plugin|-B|--?specs|-Xclang|@)/ };

const ARRAY: ActingOptions = { short: 'C', valued: 'cdnOsu' };

const OPTIONS: Readonly<Record<string, ActingOptions>> = {
  '[': TEST,
  awk: AWK,
  'c++': COMPILER,
  cargo: { long: 'config', short: 'Z' },
  cc: COMPILER,
  clang: COMPILER,
  'clang++': COMPILER,
  compgen: { short: 'CF', valued: 'oAGWPSX' },
  complete: { short: 'CF', valued: 'oAGWPSX' },
  curl: {
    long:
      'output output-dir remote-name remote-name-all config dump-header cookie-jar trace trace-ascii stderr libcurl etag-save hsts ' +
      'alt-svc upload-file data-urlencode engine',
    harmless: 'data',
    word: /(?:^|=)[@<]|^-[A-Za-z#]*[dFHw]\s*@|%output\{/i,
    short: 'oOJKDcT',
    valued: 'AbCdeEFHhmPQrtuUwxXyYz',
  },
  dc: { word: /!/ },
  date: { long: 'set', short: 's', valued: 'dfrI', word: /^\d{8,12}(?:\.\d\d)?$/ },
  docker: { long: 'host config context', short: 'H' },
  enable: { short: 'f' },
  fd: { long: 'exec exec-batch', short: 'xX', valued: 'cdeEjoStT' },
  file: { long: 'compile', short: 'C', valued: 'efFmP' },
  find: { endless: true, word: /^-(?:exec|execdir|ok|okdir|delete|fprint0?|fprintf|fls)$/ },
  'g++': COMPILER,
  gawk: AWK,
  gcc: COMPILER,
  git: {
    long:
      'config-env exec-path git-dir upload-pack receive-pack exec ext-diff textconv open-files-in-pager output output-directory extcmd ' +
      'template upload-archive filters sendmail-cmd smtp-server to-cmd cc-cmd header-cmd',
    harmless: 'text filter cc to',
    word: /^-(?:c|[EFHLPWhilnopqvwz]*O)/,
  },
  go: { endless: true, word: /^--?(?:toolexec|vettool|exec|ldflags|gccgoflags|overlay|modfile)(?:=|$)/ },
  hash: { short: 'p' },
  kubectl: {
    long:
      'kubeconfig output-directory cache-dir server cluster context user token insecure-skip-tls-verify as as-group as-uid ' +
      'client-certificate client-key certificate-authority tls-server-name username password',
    short: 's',
    valued: 'nolLc',
  },
  less: { long: 'log-file LOG-FILE lesskey-file lesskey-src lesskey-context', short: 'oOk', valued: 'bDhjpPtTxyz', word: /^\+.*!/ },
  make: { long: 'eval file makefile', short: 'fE', valued: 'CIjloW', word: /^\.?SHELL\w*\s*[:+?!]*=|^[^-].*\$[({]/ },
  man: { long: 'pager html config-file', short: 'PHC', valued: 'eELmMprRsS' },
  mapfile: ARRAY,
  mawk: AWK,
  nawk: AWK,
  nmap: { endless: true, word: /^--?script/ },
  npm: { long: 'script-shell git userconfig globalconfig editor browser viewer node-options', harmless: 'global' },
  openssl: { endless: true, word: /^-(?:engine|provider|provider-path|config)$/ },
  printf: { short: 'v' },
  psql: { long: 'output log-file file', short: 'oLf', valued: 'cdFhpPRTUv', word: /[\\`]|\bprogram\b/i },
  readarray: ARRAY,
  rg: { long: 'pre hostname-bin search-zip', short: 'z', valued: 'ABCEMTdefgjmrt' },
  rsync: { long: 'rsh rsync-path', short: 'eM', valued: 'BTf' },
  scp: { short: 'SFo', valued: 'cDilPX' },
  sed: { long: 'in-place file', short: 'if', valued: 'el' },
  sftp: { short: 'SFoDb', valued: 'BclPRsXi' },
  shuf: { long: 'output', short: 'o', valued: 'ein' },
  sort: { long: 'output compress-program', short: 'o', valued: 'kStT' },
  split: { long: 'filter' },
  sqlite3: {
    endless: true,
    // Read-only dot commands are listed, since sqlite3 accepts abbreviated ones; `./` and `../` begin a path.
    word: /^--?(?:init|A)|(?:^|\n)\s*\.(?!\.?\/)(?!(?:tables|schema|headers?|mode|width|databases|indexes|dump|help|show|timer|quit|exit)(?:\s|$))|load_extension|writefile|edit\s*\(/i,
  },
  strace: { long: 'output', short: 'o', valued: 'eaEIPpsSuUXb' },
  tar: {
    long: 'to-command checkpoint-action use-compress-program rsh-command rmt-command info-script new-volume-script',
    short: 'IF',
    valued: 'bCfgHKLNTVX',
    // An archive on another host.
    word: /^(?:--file=)?[^/]*:/,
    bundle: /^[A-Za-z]*[IF][A-Za-z]*$/,
  },
  tcpdump: { short: 'zwF', valued: 'BcCEGijmMPQrsTVWyZ' },
  test: TEST,
  time: { long: 'output', short: 'o', valued: 'f' },
  tree: { long: 'output', short: 'o', valued: 'HILPT' },
  wget: {
    long: 'execute use-askpass config input-file post-file body-file load-cookies ca-certificate certificate private-key',
    short: 'ei',
    valued: 'aABDIlOoPQRtTUwX',
  },
  zip: { long: 'unzip-command', word: /^-TT/ },
};

/** Actions of git that run commands from their arguments or the repository. */
const RUNNING_ACTIONS: Readonly<Record<string, RegExp>> = {
  alias: /^/,
  archive: /^-o/,
  bisect: /^run$/,
  difftool: /^/,
  'filter-branch': /^/,
  instaweb: /^/,
  mergetool: /^/,
  rebase: /^-[a-z]*x|^--exec/,
  'remote-ext': /^/,
  submodule: /^foreach$/,
  'web--browse': /^/,
};
const READING_CONFIG = /^(?:--get(?:-\w+)*|--list|-l|get|list)$/;
const HARMLESS_CONFIG = /^(?:user|color|column|advice|i18n|init\.defaultbranch)(?:\.|$)/i;

/**
 * Argument by which a reading program writes files or runs others; undefined if there is none. A word unknown before the run
 * counts as such an option.
 */
export function actingArgument(name: string, command: SubCommand): string | undefined {
  const options = Object.hasOwn(OPTIONS, name) ? OPTIONS[name] : undefined;
  if (options === undefined) return undefined;
  const args = command.words.slice(1);
  if (options.bundle?.test(args[0]?.value ?? '') === true) return args[0]?.value;
  const end = options.endless === true ? -1 : args.findIndex(({ value, dynamic }) => value === '--' && !dynamic);
  const before = end === -1 ? args : args.slice(0, end);
  const found = before.find((word) => mayBeOption(word) || options.word?.test(word.value) === true || isActing(word.value, options));
  return found?.value ?? (name === 'git' ? runningAction(command) : undefined);
}

/** True if an expansion among the arguments of a program counts as an option with effects. */
export function hasActingOptions(name: string): boolean {
  return Object.hasOwn(OPTIONS, name);
}

function isActing(word: string, { long = '', short = '', valued = '', harmless = '' }: ActingOptions): boolean {
  if (word.startsWith('--')) {
    const [name = ''] = word.slice(2).split('=', 1);
    return name !== '' && !harmless.split(' ').includes(name) && long.split(' ').some((it) => it.startsWith(name));
  }
  if (!word.startsWith('-')) return false;
  for (const letter of word.slice(1)) {
    if (short.includes(letter)) return true;
    if (valued.includes(letter)) return false;
  }
  return false;
}

/** An expansion may bring an option, also a second word; a glob or brace at the start may too, since files may have such names. */
function mayBeOption({ value, dynamic }: ShellWord): boolean {
  return dynamic && (/[$`]/.test(value) || /^[-*?[{+@!]/.test(value));
}

function runningAction(command: SubCommand): string | undefined {
  const action = actionOf(command, 'git');
  if (action === undefined) return undefined;
  const args = command.words.slice(command.words.findIndex(({ value }) => value === action) + 1).map(({ value }) => value);
  const runs = Object.hasOwn(RUNNING_ACTIONS, action) ? RUNNING_ACTIONS[action] : undefined;
  if (runs !== undefined) return runs.test('') || args.some((arg) => runs.test(arg)) ? action : undefined;
  const isChange = action === 'config' && args.length > 0 && !args.some((arg) => READING_CONFIG.test(arg) || HARMLESS_CONFIG.test(arg));
  return isChange ? action : undefined;
}
