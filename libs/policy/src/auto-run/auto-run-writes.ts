import { globMatches } from '#patterns';
import { AUTO_RUN_NAMES, autoRunReason } from './auto-run-files.js';
import { normalizePath } from '../patterns/lexical-path.js';
import { findDangerousCommand } from '../shell/dangerous-command.js';
import { valuesIn } from '../shell/paths-in-command.js';
import { isShell } from '../shell/inner-commands.js';
import { reads } from '../shell/readonly.js';
import { actionOf } from '../shell/risk-class.js';
import { executableOf, type ParsedCommand, type ShellWord, type SubCommand } from '../shell/sub-command.js';
import { isWrapper } from '../shell/wrappers.js';
import { storedName, unnamedWrites } from './unnamed-writes.js';

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));

/** Programs that write to their output only, where nothing in the line is dangerous. */
const FILTERS = words('sed awk gawk mawk nawk uniq xxd tree less man hostname');
/** Programs that write where their last word says, and those that write where any of their words says. */
const WRITES_LAST = words('cp mv ln install rsync');
const WRITES_ANY = words('tee dd truncate touch mkdir');
/** Actions of git that write files by their names. Others take revisions, addresses, or paths that they only record. */
const WRITING_ACTIONS = words('mv checkout restore apply init');
/** Actions of git that make a folder of a repository: named, or called as the end of its address. */
const FETCHING_ACTIONS = words('clone submodule worktree');
/** Programs that write files under the names of addresses. */
const FETCHING = words('wget aria2c');
/** Programs that run the files that they name; others of their kind may have a version at the end. */
const RUNNING = words('. source node nodejs deno bun npx php python perl ruby');
const ENTERING = words('cd pushd');
/** Words of one line that are looked at. */
const MOST_WORDS = 500;

/** A file that is unpacked beside itself loses such an ending. */
const COMPRESSED = /\.(?:gz|bz2|xz|lzma|zst|lz4|br|Z)$/;

/** An expansion that only running the command tells. */
const UNKNOWN = /[$`]/;

/**
 * Reasons why a command line may write files that later commands run. Programs not known as read-only may write any file that
 * they name. An entered folder, or a set variable, may be part of a name.
 */
export function autoRunWrites(reading: ParsedCommand): readonly string[] {
  const isDangerous = findDangerousCommand(reading) !== undefined;
  const acting = reading.commands.filter((command) => mayWrite(command, isDangerous));
  const targets = reading.commands.flatMap(({ redirects }) =>
    redirects.filter(({ operator }) => operator.includes('>')).map(({ target }) => target),
  );
  const around = acting.length + targets.length === 0 ? [] : reading.commands.flatMap(({ assignments }) => assignments);
  const entered = reading.commands.filter((it) => ENTERING.has(executableOf(it) ?? '')).flatMap(operands);
  const [running, writing] = [acting.filter(runsItsWords), acting.filter((it) => !runsItsWords(it))];
  const written = [...targets, ...writing.flatMap(operands), ...entered];
  const run = [...running.flatMap(operands), ...around];
  if (written.length + run.length > MOST_WORDS) return [`the command has more than ${MOST_WORDS} words that may be files it writes`];
  const unknown = [...targets, ...acting.flatMap(writtenOperands)].find(({ value, dynamic }) => dynamic && UNKNOWN.test(value));
  return [
    ...written.flatMap((word) => reasonsOf(word, true)),
    ...run.flatMap((word) => reasonsOf(word, false)),
    ...reading.commands.flatMap((command) => unnamedWrites(command) ?? []),
    ...(unknown === undefined ? [] : [`only running the command tells which file it writes at ${unknown.value}`]),
  ];
}

/** Words with the targets of writes in a command line: of redirections, and of programs that copy. */
export function writtenWords({ commands }: ParsedCommand): readonly string[] {
  const targets = commands.flatMap(({ redirects }) => redirects.filter(({ operator }) => operator.includes('>')).map((it) => it.target));
  return [...targets, ...commands.flatMap(writtenOperands)].flatMap(({ value }) => [value, ...valuesIn(value)]).slice(0, MOST_WORDS);
}

/** True if the command itself may write. Ignores redirections, which are checked separately. */
function mayWrite(command: SubCommand, isDangerous: boolean): boolean {
  const name = executableOf(command);
  if (name === '' || ENTERING.has(name ?? '') || reads({ ...command, redirects: [] })) return false;
  if (name === 'git') return WRITING_ACTIONS.has(actionOf(command, name) ?? '') || fetches(command);
  return isDangerous || !FILTERS.has(name ?? '');
}

/** True for a command that runs the programs among its words. */
function runsItsWords(command: SubCommand): boolean {
  const name = executableOf(command) ?? '';
  return RUNNING.has(name.replace(/[\d.]+$/, '')) || isShell(name) || isWrapper(name);
}

function fetches(command: SubCommand): boolean {
  const name = executableOf(command) ?? '';
  return FETCHING.has(name) || (name === 'git' && FETCHING_ACTIONS.has(actionOf(command, name) ?? ''));
}

/** `HEAD` is a revision for git, except where it renames files. */
function operands(command: SubCommand): readonly ShellWord[] {
  const args = command.words.slice(1).flatMap(({ value, dynamic }) => [value, ...valuesIn(value)].map((it) => ({ value: it, dynamic })));
  if (fetches(command)) return args.map(({ value, dynamic }) => ({ value: storedName(value), dynamic }));
  const isRevision = executableOf(command) === 'git' && actionOf(command, 'git') !== 'mv';
  return isRevision ? args.filter(({ value }) => value !== 'HEAD') : args;
}

function writtenOperands(command: SubCommand): readonly ShellWord[] {
  const name = executableOf(command) ?? '';
  const all = command.words.slice(1);
  if (WRITES_ANY.has(name)) return all;
  return WRITES_LAST.has(name) ? all.filter(({ value }, index) => index === all.length - 1 || value.startsWith('-')) : [];
}

function reasonsOf({ value, dynamic }: ShellWord, isWritten: boolean): string[] {
  if (value.length > 4_096 || value.includes('://')) return [];
  const path = normalizePath(`/${value}`);
  const reason =
    autoRunReason(path, isWritten) ??
    autoRunReason(path.replace(COMPRESSED, ''), isWritten) ??
    (dynamic ? possibleReason(value) : undefined);
  return reason === undefined ? [] : [`${value} can make later commands run something: ${reason}`];
}

const LONGEST_NAME = 255;

/** A wildcard or braces may stand for a part of such a name. Shells let only a plain dot match one in front. */
function possibleReason(value: string): string | undefined {
  const isPossible = hasPathInBraces(value) || value.toLowerCase().split('/').some(mayBeListed);
  return isPossible ? 'it may be a file that git, a shell or an editor runs' : undefined;
}

function hasPathInBraces(value: string): boolean {
  return value.split('}').some((piece) => piece.includes('{') && piece.slice(piece.indexOf('{')).includes('/'));
}

function mayBeListed(name: string): boolean {
  if (name.length > LONGEST_NAME || !/^[.{]/.test(name) || !/[*?[{]/.test(name)) return false;
  const pattern = name.replaceAll(/\$\w+|\$\{[^}]*\}/g, '*');
  return AUTO_RUN_NAMES.some((it) => globMatches(pattern, it));
}
