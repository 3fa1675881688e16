import { actingArgument, hasActingOptions } from './acting-options.js';
import { hasListedOptions, unlistedArgument } from './listed-options.js';
import { hidesCommand, isShell, readsScriptFromInput, takesScript } from './inner-commands.js';
import { executableOf, type ParsedCommand, type ShellAssignment, type ShellWord, type SubCommand } from './sub-command.js';
import { sedActs } from './sed-script.js';
import { xargsOnlyReads } from './xargs.js';

/** Text in a program given as an argument that runs commands or writes files. */
const DANGEROUS_PROGRAMS = new Map([['awk', /system\s*\(|\|\s*getline|\||>|@load|@include/]]);

/** Builtins that take a subscript in an argument for arithmetic, which runs a substitution in it also where it is quoted. */
const EVALUATING = new Set('printf test [ let unset declare typeset local export readonly read mapfile readarray getopts wait'.split(' '));

const SUBSTITUTION = /\$\(|\$\{|`/;

const SQL_SHELLS = new Set(['sqlite3', 'psql', 'mysql', 'mariadb']);

/** Variables that change the output of programs, never the programs that they run. */
export const HARMLESS_VARIABLES = /^(?:LANG|LANGUAGE|LC_\w+|TZ|TERM|COLUMNS|LINES|NO_COLOR|FORCE_COLOR|CI)$/;
const DECLARING: ReadonlySet<string> = new Set(['export', 'declare', 'typeset']);
/** Variables that make other programs run something. Set for the shell, they count where the environment has them by custom. */
const DANGEROUS_VARIABLES =
  /^(?:PAGER|GIT_\w+|MANPAGER|LESSOPEN|LESSCLOSE|EDITOR|VISUAL|BROWSER|PATH|IFS|ENV|BASH_\w*|SHELL|SHELLOPTS|PROMPT_COMMAND|PS[0-4]|LD_\w+|DYLD_\w+|GLIBC_TUNABLES|GCONV_PATH|OPENSSL_\w+|NODE_(?:OPTIONS|PATH)|PYTHON\w+|PERL5?\w*|RUBYOPT|RUBYLIB|LUA_\w+|PHPRC|PHP_INI_SCAN_DIR|\w*JAVA_\w*OPTIONS|\w+_OPTS|\w*MAKEFLAGS|\w+FLAGS|CC|CXX|RUSTC\w*|HOME|XDG_\w+|TAR_OPTIONS|RSYNC_RSH|S(?:SH|UDO)_ASKPASS|LESS|LESSKEY\w*|RIPGREP_CONFIG_PATH|KUBECONFIG|DOCKER_(?:HOST|CONFIG|CONTEXT)|AWS_\w+_FILE|CARGO_\w+|npm_config_\w+)$/;
const PAGERS = /^(?:PAGER|GIT_PAGER|MANPAGER|EDITOR|GIT_EDITOR|VISUAL|BROWSER)$/;
const HARMLESS_PAGERS = new Set(['', 'true', 'cat']);

/**
 * Reason why a command may have effects beyond its words, which makes patterns of commands worthless: substitutions, options or
 * variables that run other programs, a script from a pipe, an executable unknown before the run. Undefined if there is none. An
 * unreadable command is dangerous.
 */
export function findDangerousCommand({ fault, features, commands }: ParsedCommand): string | undefined {
  if (fault !== undefined) return fault;
  if (features.has('substitution')) return 'it has a command substitution';
  if (features.has('process substitution')) return 'it has a process substitution';
  if (features.has('evaluated subscript')) return 'it computes with a subscript that runs a command';
  if (features.has('prompt expansion')) return 'it expands a variable as a prompt (@P)';
  if (features.has('function')) return 'it defines a function, which may stand for any command';
  for (const command of commands) {
    const danger = dangerReason(command);
    if (danger !== undefined) return danger;
  }
  return undefined;
}

/**
 * True if the effects of a dangerous command are visible in its text: it is dangerous only for variables set for programs
 * (except those that programs are known to run), or for variables among its arguments that it does not set itself.
 */
export function meansItsText(reading: ParsedCommand): boolean {
  const { commands } = reading;
  const setsShell = commands.some(({ words, assignments }) => assignments.length > 0 && (words.length === 0 || isDeclaring(words)));
  if (setsShell && commands.some(({ words }) => words.some(({ dynamic }) => dynamic))) return false;
  return findDangerousCommand({ ...reading, commands: commands.map(asItsText) }) === undefined;
}

/** An argument without an option is a program or an action. */
const TAKING_PROGRAMS = new Set('awk gawk mawk nawk find psql sqlite3'.split(' '));
/** Environment variables: named by convention like those that `extraEffects` counts when a command line sets them. */
const VARIABLE = /\$(?:[A-Z][A-Z\d_]*\b|\{[A-Z][A-Z\d_]*\})/g;

/** The command as if the variables that its text names were plain words. */
function asItsText(command: SubCommand): SubCommand {
  const { words, assignments } = command;
  const kept = assignments.filter(
    ({ name, value, dynamic }) => words.length === 0 || (dynamic && /[$`]/.test(value)) || DANGEROUS_VARIABLES.test(name),
  );
  const name = executableOf(command) ?? '';
  const listed = !TAKING_PROGRAMS.has(name) && (hasActingOptions(name) || hasListedOptions(name));
  const plain = words.map((word, index) => (index > 0 && listed && isPlainWith(word) ? { ...word, dynamic: false } : word));
  return { ...command, assignments: isDeclaring(words) ? assignments : kept, words: plain };
}

/** Besides variables it has nothing that is expanded. */
function isPlainWith({ value }: ShellWord): boolean {
  return value.includes('$') && !/[$`*?[\]{}]/.test(value.replaceAll(VARIABLE, ''));
}

function isDeclaring([program]: SubCommand['words']): boolean {
  return DECLARING.has(program?.value ?? '');
}

/** `PAGER=cat git log` only shows. `PATH=cat` does not: any other variable means something else by the same text. */
export function isHarmlessPager({ name, value, dynamic }: ShellAssignment): boolean {
  return PAGERS.test(name) && !dynamic && HARMLESS_PAGERS.has(value);
}

function dangerReason(command: SubCommand): string | undefined {
  const name = executableOf(command);
  if (name === undefined) return `only running it tells which program "${command.words[0]?.value ?? ''}" is`;
  const variable = dangerousVariable(command);
  if (variable !== undefined) return `it sets ${variable}, which may change what programs run`;
  const args = command.words.slice(1);
  if (isShell(name) && readsScriptFromInput(command)) return `${name} runs what it is sent`;
  if (hidesCommand(command)) return `its words leave open which command ${name} runs`;
  if (exportsVariables(name, args)) return `${name} may hand every variable that is set to the programs that follow`;
  if (name === 'watch' && args.some(({ dynamic }) => dynamic)) return 'only running it tells what watch runs';
  if (name === 'parallel') return 'parallel may run whatever it is sent';
  if (name === 'xargs' && !xargsOnlyReads(command)) return 'xargs may run or write something else by what it is sent';
  if (takesScript(name) && args.some(({ dynamic }) => dynamic)) return `only running it tells what ${name} runs`;
  if (EVALUATING.has(name) && args.some(({ value }) => value.includes('[') && SUBSTITUTION.test(value.slice(value.indexOf('[')))))
    return `${name} may run what is in a subscript`;
  if (name === 'sed' && sedActs(command)) return 'the program of sed is not known to only write to its output';
  if (SQL_SHELLS.has(name) && command.input !== undefined) return `${name} runs what it is sent`;
  const option = actingArgument(name, command);
  if (option !== undefined) return `${name} has the argument ${option}, by which it may run or write something else`;
  const unlisted = unlistedArgument(name, command);
  if (unlisted !== undefined) return `${name} has the argument ${unlisted}, which is not known to only read`;
  if (args.some(({ value }) => DANGEROUS_PROGRAMS.get(name.replace(/^[gmn]awk$/, 'awk'))?.test(value) === true))
    return `the program of ${name} runs commands or writes files`;
  return undefined;
}

/** `set -a`, `set -o allexport`, `bash -a`: a variable that is set for the shell reaches programs then. */
function exportsVariables(name: string, args: readonly ShellWord[]): boolean {
  if (name !== 'set' && name !== 'shopt' && !isShell(name)) return false;
  const end = args.findIndex(({ value }) => value === '--' || !/^[-+]/.test(value));
  const isOption = ({ value, dynamic }: ShellWord) => (name === 'set' && dynamic) || (name !== 'shopt' && /^-[A-Za-z]*a/.test(value));
  const options = end === -1 ? args : args.slice(0, args[end]?.dynamic ? end + 1 : end);
  return options.some(isOption) || args.some(({ value }) => value === 'allexport');
}

/** Dangerous variable that a command sets. Programs may get harmless variables and NODE_ENV; the shell all but the listed ones. */
function dangerousVariable({ words, assignments }: SubCommand): string | undefined {
  const isDangerous = (name: string) =>
    words.length === 0 ? DANGEROUS_VARIABLES.test(name) : !HARMLESS_VARIABLES.test(name) && name !== 'NODE_ENV';
  const set = assignments.find((it) => isDangerous(it.name) && !isHarmlessPager(it));
  if (set !== undefined || !isDeclaring(words)) return set?.name;
  return words.slice(1).find(({ value }) => /^\w+$/.test(value) && isDangerous(value))?.value;
}
