import { executableOf, type ShellWord, type SubCommand } from './sub-command.js';

/** How a command that runs another one takes it. Options that are not listed may have a value, so what follows is not known. */
interface Wrapper {
  /** Letters whose value is the rest of their word, or the next word. */
  readonly valued?: string;
  /** Letters without a value. */
  readonly flags?: string;
  /** Letters whose value, if any, is the rest of their word. */
  readonly attached?: string;
  /** Names after `--` that take the next word when they have no `=`. */
  readonly longValued?: string;
  /** Names after `--` that do not. */
  readonly long?: string;
  /** Words before the command. */
  readonly before?: number;
  /** Variables stand before the command. */
  readonly assigns?: true;
}

const DIGITS = '0123456789';

const WRAPPERS: Readonly<Record<string, Wrapper>> = {
  sudo: {
    valued: 'ughpCrtTUDR',
    flags: 'AbBEHikKnNPSs',
    longValued: 'user group host prompt close-from role type command-timeout other-user chdir chroot',
    long: 'askpass background bell preserve-env set-home login remove-timestamp reset-timestamp non-interactive preserve-groups stdin shell',
    assigns: true,
  },
  doas: { valued: 'uC', flags: 'Lns', assigns: true },
  env: {
    valued: 'uCa',
    flags: 'i0v',
    longValued: 'unset chdir argv0',
    long: 'ignore-environment null debug block-signal default-signal ignore-signal list-signal-handling',
    assigns: true,
  },
  nohup: {},
  nice: { valued: 'n', flags: DIGITS, longValued: 'adjustment' },
  ionice: { valued: 'cnpPu', flags: 't', longValued: 'class classdata pid pgid uid', long: 'ignore' },
  chrt: {
    valued: 'TPD',
    flags: 'abdefioRrmpv',
    longValued: 'sched-runtime sched-period sched-deadline',
    long: 'all-tasks batch deadline fifo idle other rr reset-on-fork',
    before: 1,
  },
  taskset: { flags: 'apc', long: 'all-tasks pid cpu-list', before: 1 },
  time: { valued: 'fo', flags: 'apqvV', longValued: 'format output', long: 'append portability quiet verbose' },
  timeout: { valued: 'ks', flags: 'fpv', longValued: 'kill-after signal', long: 'foreground preserve-status verbose', before: 1 },
  stdbuf: { valued: 'ioe', longValued: 'input output error' },
  setsid: { flags: 'cfw', long: 'ctty fork wait' },
  exec: { valued: 'a', flags: 'cl' },
  command: { flags: 'pvV' },
  builtin: {},
  xargs: {
    valued: 'InPLdaEs',
    flags: '0rtpxo',
    attached: 'eil',
    longValued: 'arg-file delimiter max-args max-procs max-chars process-slot-var',
    long: 'null no-run-if-empty verbose interactive exit open-tty show-limits replace eof max-lines',
  },
  parallel: { valued: 'jaIN' },
  watch: {
    valued: 'nq',
    flags: 'bcegtpxw',
    attached: 'd',
    longValued: 'interval equexit',
    long: 'beep color differences errexit chgexit no-title precise exec no-wrap',
  },
  strace: { valued: 'opePsaEIuXSUbO', flags: 'cCdfFiknqrtTvwxyYzZDA' },
  chroot: { long: 'skip-chdir', longValued: 'userspec groups', before: 1 },
  flock: {
    valued: 'wE',
    flags: 'nsxuoFe',
    longValued: 'wait timeout conflict-exit-code',
    long: 'nonblock nb shared exclusive unlock close no-fork verbose',
    before: 1,
  },
  unshare: { valued: 'RwSG', flags: 'frc', attached: 'imnpuUCT', long: 'fork map-root-user map-current-user mount-proc' },
  busybox: {},
  coproc: {},
};

export function isWrapper(name: string | undefined): boolean {
  return name !== undefined && Object.hasOwn(WRAPPERS, name);
}

/** The words of the command that a wrapper runs. Not `certain`: something before them may have another meaning. */
export function readWrapper(command: SubCommand): { readonly inner: readonly ShellWord[]; readonly certain: boolean } {
  const { words } = command;
  const wrapper = WRAPPERS[executableOf(command) ?? ''] ?? {};
  let at = 1;
  let certain = true;
  for (; at < words.length; at++) {
    const value = words[at]?.value ?? '';
    if (value === '--') {
      at++;
      break;
    }
    if (isOption(value)) {
      const taken = wordsOfOption(value, wrapper);
      certain &&= taken !== undefined;
      at += (taken ?? 1) - 1;
    } else if (wrapper.assigns === undefined || !/^[A-Za-z_]\w*=/.test(value)) break;
  }
  const inner = words.slice(at + (wrapper.before ?? 0));
  const before = words.slice(1, words.length - inner.length);
  return { inner, certain: certain && !before.some(({ dynamic }) => dynamic) && !isOption(inner[0]?.value ?? '') };
}

function isOption(word: string): boolean {
  return word.startsWith('-');
}

/** How many words an option is with its value; undefined when it is not known. */
function wordsOfOption(word: string, { valued = '', flags = '', attached = '', longValued = '', long = '' }: Wrapper): number | undefined {
  if (word.startsWith('--')) {
    const [name = '', value] = word.slice(2).split('=', 2);
    if (longValued.split(' ').includes(name)) return value === undefined ? 2 : 1;
    return long.split(' ').includes(name) ? 1 : undefined;
  }
  for (let at = 1; at < word.length; at++) {
    const letter = word[at] ?? '';
    if (valued.includes(letter)) return at === word.length - 1 ? 2 : 1;
    if (attached.includes(letter)) return 1;
    if (!flags.includes(letter)) return undefined;
  }
  return word === '-' ? undefined : 1;
}
