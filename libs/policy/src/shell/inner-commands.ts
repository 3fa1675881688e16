import { executableOf, type ShellWord, type SubCommand } from './sub-command.js';

/** How a command that runs another one takes it: options with a value of their own, and words before the command. */
interface Wrapper {
  readonly valued: string;
  readonly before?: number;
}

const WRAPPERS: Readonly<Record<string, Wrapper>> = {
  sudo: { valued: 'ughpCrtTUDR' },
  doas: { valued: 'uC' },
  env: { valued: 'uC' },
  nohup: { valued: '' },
  nice: { valued: 'n' },
  ionice: { valued: 'cnpPu' },
  chrt: { valued: 'TPD', before: 1 },
  taskset: { valued: '', before: 1 },
  time: { valued: 'fo' },
  timeout: { valued: 'ks', before: 1 },
  stdbuf: { valued: 'ioe' },
  setsid: { valued: '' },
  exec: { valued: 'a' },
  command: { valued: '' },
  builtin: { valued: '' },
  xargs: { valued: 'InPLdaEs' },
  parallel: { valued: 'jaIN' },
  watch: { valued: 'n' },
  strace: { valued: 'opePs' },
  chroot: { valued: '', before: 1 },
  flock: { valued: 'wE', before: 1 },
  unshare: { valued: '' },
  busybox: { valued: '' },
  coproc: { valued: '' },
};

const SHELLS = new Set(['sh', 'bash', 'dash', 'zsh', 'ksh', 'ash', 'rbash', 'fish']);

export function isShell(name: string | undefined): boolean {
  return name !== undefined && SHELLS.has(name);
}

export function isWrapper(name: string | undefined): boolean {
  return name !== undefined && Object.hasOwn(WRAPPERS, name);
}

/** What a command runs by its arguments or its input: commands word for word, and texts that a shell reads again. One level: what those run in turn is asked again. */
export function innerCommands(command: SubCommand): { readonly commands: readonly SubCommand[]; readonly scripts: readonly string[] } {
  const wrapped = wrappedBy(command);
  return { commands: [...(wrapped === undefined ? [] : [wrapped]), ...executedByFind(command)], scripts: scriptsOf(command) };
}

function wrappedBy(command: SubCommand): SubCommand | undefined {
  const name = executableOf(command);
  const wrapper = name !== undefined && Object.hasOwn(WRAPPERS, name) ? WRAPPERS[name] : undefined;
  if (wrapper === undefined) return undefined;
  const { words } = command;
  let at = 1;
  for (; at < words.length; at++) {
    const value = words[at]?.value ?? '';
    if (value === '--') {
      at++;
      break;
    }
    if (/^-[A-Za-z]$/.test(value) && wrapper.valued.includes(value.slice(1))) at++;
    else if (!value.startsWith('-') && !/^[A-Za-z_]\w*=/.test(value)) break;
  }
  return inside(command, words.slice(at + (wrapper.before ?? 0)))[0];
}

function scriptsOf(command: SubCommand): string[] {
  const name = executableOf(command);
  const args = command.words.slice(1);
  if (name === 'eval') return [args.map(({ value }) => value).join(' ')];
  if (name === 'trap') return args.slice(0, 1).map(({ value }) => value);
  if (name === 'env') return args.flatMap(({ value }, index) => splitString(value, args[index + 1]?.value));
  if (!isShell(name)) return [];
  const option = args.findIndex(({ value }) => /^-[A-Za-z]*c[A-Za-z]*$/.test(value));
  const script = option === -1 ? undefined : args.slice(option + 1).find(({ value }) => !/^[-+]/.test(value));
  if (script !== undefined) return [script.value];
  return readsScriptFromInput(command) && command.input?.from === 'text' ? [command.input.text] : [];
}

/** `env -S "…"` splits a text into a command. */
function splitString(value: string, next: string | undefined): string[] {
  if (value === '-S' || value === '--split-string') return next === undefined ? [] : [next];
  const attached = /^(?:-S|--split-string=)(.+)$/s.exec(value)?.[1];
  return attached === undefined ? [] : [attached];
}

/** A shell without a script in its arguments runs what it is sent. */
export function readsScriptFromInput(command: SubCommand): boolean {
  if (!isShell(executableOf(command)) || command.input === undefined) return false;
  const args = command.words.slice(1).map(({ value }) => value);
  return args.every((value) => value.startsWith('-') || value.startsWith('+') || value === '/dev/stdin') || args.includes('-s');
}

function executedByFind(command: SubCommand): SubCommand[] {
  if (executableOf(command) !== 'find') return [];
  const found: SubCommand[] = [];
  let executed: ShellWord[] | undefined;
  for (const word of command.words) {
    if (executed === undefined) {
      if (/^-(?:exec|ok)(?:dir)?$/.test(word.value)) executed = [];
    } else if (word.value !== ';' && word.value !== '+') {
      executed.push(word);
    } else {
      found.push(...inside(command, executed));
      executed = undefined;
    }
  }
  return [...found, ...inside(command, executed ?? [])];
}

function inside(command: SubCommand, words: readonly ShellWord[]): SubCommand[] {
  if (words.length === 0) return [];
  const text = words.map(({ value }) => value).join(' ');
  return [{ words, assignments: [], redirects: [], text, inner: true, ...(command.input === undefined ? {} : { input: command.input }) }];
}
