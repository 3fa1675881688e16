import { executableOf, plainText, type ShellAssignment, type ShellWord, type SubCommand } from './sub-command.js';
import { isWrapper, readWrapper } from './wrappers.js';

const SHELLS = new Set(['sh', 'bash', 'dash', 'zsh', 'ksh', 'ash', 'rbash', 'fish']);
const SU_SCRIPT = /^(?:-[^-cgGsuw]*c|--(?:c[a-z]*|se[a-z-]*)(?:=|$))/;
/** Options with the script for a shell, like `-c`. Per program: start of the option, alone or behind letters without a value. */
const SCRIPT_OPTION: Readonly<Record<string, RegExp>> = {
  su: SU_SCRIPT,
  runuser: SU_SCRIPT,
  script: /^(?:-[^-cEIOBTmot]*c|--c[a-z]*(?:=|$))/,
};

export function isShell(name: string | undefined): boolean {
  return name !== undefined && SHELLS.has(name);
}

/**
 * Commands that a command runs by its arguments or its input: word lists, and scripts for a shell. One level; callers repeat
 * this for inner ones.
 */
export function innerCommands(command: SubCommand): { readonly commands: readonly SubCommand[]; readonly scripts: Iterable<string> } {
  const wrapped = wrappedBy(command);
  return { commands: [...(wrapped === undefined ? [] : [wrapped]), ...executedByFind(command)], scripts: scriptsOf(command) };
}

/** True if a program runs the rest of its words as a command; runuser does so only with the option for a user. */
function runsWords(command: SubCommand): boolean {
  const name = executableOf(command);
  return isWrapper(name) && (name !== 'runuser' || command.words.some(({ value }) => /^-(?:[a-zA-Z]*u|-u)/.test(value)));
}

/** True if a program passes a text of its arguments to a shell. */
export function takesScript(name: string): boolean {
  return isShell(name) || name === 'eval' || name === 'sg' || Object.hasOwn(SCRIPT_OPTION, name);
}

function wrappedBy(command: SubCommand): SubCommand | undefined {
  if (!runsWords(command)) return undefined;
  const { inner, assignments } = readWrapper(command);
  const [wrapped] = inside(command, inner, assignments);
  const name = executableOf(command);
  return wrapped !== undefined && (command.more || name === 'xargs' || name === 'parallel') ? { ...wrapped, more: true } : wrapped;
}

/** True if the words of a wrapper do not determine the command that it runs. */
export function hidesCommand(command: SubCommand): boolean {
  return runsWords(command) && !readWrapper(command).certain;
}

function scriptsOf(command: SubCommand): Iterable<string> {
  const name = executableOf(command);
  const args = command.words.slice(1);
  if (name === 'eval') return [args.map(({ value }) => value).join(' ')];
  if (name === 'trap') return args.slice(0, 1).map(({ value }) => value);
  if (name === 'env') return splitStrings(args.map(({ value }) => value));
  if (name === 'sg') return scriptOfGroup(args);
  if (name === 'watch') return [plainText({ ...command, words: readWrapper(command).inner })];
  const scriptOption = Object.hasOwn(SCRIPT_OPTION, name ?? '') ? SCRIPT_OPTION[name ?? ''] : undefined;
  if (scriptOption !== undefined) return args.flatMap(({ value }, index) => valueOfOption(scriptOption, value, args[index + 1]?.value));
  if (!isShell(name)) return [];
  const option = args.findIndex(({ value }) => /^-[A-Za-z]*c[A-Za-z]*$/.test(value));
  const script = option === -1 ? undefined : args.slice(option + 1).find(({ value }) => !/^[-+]/.test(value));
  if (script !== undefined) return [script.value];
  return readsScriptFromInput(command) && command.input?.from === 'text' ? [command.input.text] : [];
}

function valueOfOption(option: RegExp, word: string, next: string | undefined): string[] {
  const written = option.exec(word)?.[0];
  if (written === undefined) return [];
  const value = word.length > written.length || written.endsWith('=') ? word.slice(written.length) : next;
  return value === undefined ? [] : [value];
}

/**
 * Scripts of `env -S "…" …`, which splits a text into further words: options, variables, a command. Escapes become spaces.
 * Reads each possible `-S`, since one may be the value of another option; one at a time, since each includes all following
 * words.
 */
function* splitStrings(args: readonly string[]): Generator<string> {
  for (const [index, value] of args.entries()) {
    const [, attached] = /^(?:-[0iv]*S|--s[a-z-]*(?:=|$))(.*)$/s.exec(value) ?? [];
    if (attached === undefined) continue;
    const [text = '', ...more] = [...(attached === '' ? [] : [attached]), ...args.slice(index + 1)];
    yield ['env', text.replaceAll(/\\[_cfnrtv]/g, ' '), ...more.map(quoted)].join(' ');
  }
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

/** `sg [-] group [-c] "…"` gives a text to a shell. */
function scriptOfGroup(args: readonly ShellWord[]): string[] {
  const [, first, second] = args[0]?.value === '-' ? args.slice(1) : args;
  const script = first?.value === '-c' ? second : first;
  return script === undefined ? [] : [script.value];
}

/** A shell without a script in its arguments runs its standard input. */
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

function inside(command: SubCommand, words: readonly ShellWord[], assignments: readonly ShellAssignment[] = []): SubCommand[] {
  if (words.length === 0) return [];
  const text = words.map(({ value }) => value).join(' ');
  return [{ words, assignments, redirects: [], text, inner: true, ...(command.input === undefined ? {} : { input: command.input }) }];
}
