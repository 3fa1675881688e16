import { isOption, wordsOfOption, type OptionWords } from './option-words.js';
import { executableOf, type ShellAssignment, type ShellWord, type SubCommand } from './sub-command.js';

/** Form in which a command accepts another one to run. */
interface Wrapper extends OptionWords {
  /** Words before the command. */
  readonly before?: number;
  /** Variables come before the command. */
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
  runuser: {
    valued: 'ucgGsw',
    flags: 'fmplPTh',
    longValued: 'user group supp-group command session-command shell whitelist-environment',
    long: 'login preserve-environment fast pty no-pty',
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

export interface ReadWrapper {
  /** The words of the command that the wrapper runs. */
  readonly inner: readonly ShellWord[];
  /** The variables that the wrapper sets for it. */
  readonly assignments: readonly ShellAssignment[];
  /** False where something before the command may have another meaning. */
  readonly certain: boolean;
}

export function readWrapper(command: SubCommand): ReadWrapper {
  const { words } = command;
  const wrapper = WRAPPERS[executableOf(command) ?? ''] ?? {};
  let at = 1;
  let certain = true;
  const assignments: ShellAssignment[] = [];
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
    } else {
      const [, name, text = ''] = (wrapper.assigns && /^([A-Za-z_]\w*)=(.*)$/s.exec(value)) ?? [];
      if (name === undefined) break;
      assignments.push({ name, value: text, dynamic: words[at]?.dynamic === true });
    }
  }
  const inner = words.slice(at + (wrapper.before ?? 0));
  const before = words.slice(1, words.length - inner.length);
  return { inner, assignments, certain: certain && !before.some(({ dynamic }) => dynamic) && !isOption(inner[0]?.value ?? '') };
}
