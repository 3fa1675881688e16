import { globMatches } from '#patterns';
import { AUTO_RUN_NAMES, autoRunReason } from './auto-run-files.js';
import { normalizePath } from '../patterns/lexical-path.js';
import { findDangerousCommand } from '../shell/dangerous-command.js';
import { valuesIn } from '../shell/paths-in-command.js';
import { writesFiles } from '../shell/extra-effects.js';
import { reads } from '../shell/readonly.js';
import { actionOf } from '../shell/risk-class.js';
import { executableOf, type ParsedCommand, type ShellWord, type SubCommand } from '../shell/sub-command.js';
import { storedName, unnamedWrites } from './unnamed-writes.js';
import { copies, writtenOperands, writtenPrograms } from './written-operands.js';

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));

/** Programs that write to their output only, where nothing in the line is dangerous. */
const FILTERS = words('sed awk gawk mawk nawk uniq xxd tree less man hostname');
/** Actions of git that write files by their names. Others take revisions, addresses, or paths that they only record. */
const WRITING_ACTIONS = words('mv checkout restore apply init');
/** Actions of git that make a folder of a repository: named, or called as the end of its address. */
const FETCHING_ACTIONS = words('clone submodule worktree');
/** Programs that write files under the names of addresses. */
const FETCHING = words('wget aria2c');
const ENTERING = words('cd pushd');
/** Words of one line that are looked at. */
const MOST_WORDS = 500;

/** A file that is unpacked beside itself loses such an ending. */
const COMPRESSED = /\.(?:gz|bz2|xz|lzma|zst|lz4|br|Z)$/;

/** An expansion that only running the command tells. */
const UNKNOWN = /[$`]/;

/**
 * Reasons why a command line may write files that later commands run. Programs not known as read-only may write any file that
 * they name, except for installed programs, which commands name to run them: those count where the command is known to write the
 * word. An entered folder, or a set variable, may be part of a name.
 */
export function autoRunWrites(reading: ParsedCommand): readonly string[] {
  const acting = actingCommands(reading);
  const targets = targetsOf(reading);
  const around = acting.length + targets.length === 0 ? [] : reading.commands.flatMap(({ assignments }) => assignments);
  const entered = reading.commands.filter((it) => ENTERING.has(executableOf(it) ?? '')).flatMap(operands);
  const written = [...targets, ...acting.flatMap(programsWritten).flatMap(withAttached)];
  const isOnlyKnownRunning = ({ value, dynamic }: ShellWord) => dynamic && UNKNOWN.test(value);
  const programs = [
    ...written,
    ...(written.length > targets.length || reading.commands.some(writesFiles) ? entered : []),
    ...(written.some(isOnlyKnownRunning) ? around : []),
  ];
  const named = [...targets, ...acting.flatMap(operands), ...entered, ...around];
  if (named.length > MOST_WORDS) return [`the command has more than ${MOST_WORDS} words that may be files it writes`];
  const unknown = [...targets, ...acting.filter(copies).flatMap(writtenOperands)].find(isOnlyKnownRunning);
  const reasons = [
    ...named.flatMap((word) => reasonsOf(word, false)),
    ...programs.flatMap((word) => reasonsOf(word, true)),
    ...reading.commands.flatMap((command) => unnamedWrites(command) ?? []),
    ...(unknown === undefined ? [] : [`only running the command tells which file it writes at ${unknown.value}`]),
  ];
  return [...new Set(reasons)];
}

/** Words with the targets of writes in a command line: of redirections, and of programs that write or copy. */
export function writtenWords(reading: ParsedCommand): readonly string[] {
  const all = [...targetsOf(reading), ...actingCommands(reading).flatMap(writtenOperands)];
  return all
    .flatMap(withAttached)
    .map(({ value }) => value)
    .slice(0, MOST_WORDS);
}

function actingCommands(reading: ParsedCommand): readonly SubCommand[] {
  const isDangerous = findDangerousCommand(reading) !== undefined;
  return reading.commands.filter((command) => mayWrite(command, isDangerous));
}

function targetsOf({ commands }: ParsedCommand): readonly ShellWord[] {
  return commands.flatMap(({ redirects }) => redirects.filter(({ operator }) => operator.includes('>')).map(({ target }) => target));
}

function programsWritten(command: SubCommand): readonly ShellWord[] {
  return executableOf(command) === 'git' || fetches(command) ? operands(command) : writtenPrograms(command);
}

/** A word, and the values in it: `--output=value`, `name=value`, `-tvalue`. */
function withAttached({ value, dynamic }: ShellWord): ShellWord[] {
  const attached = /^-[A-Za-z]([^]+)$/.exec(value)?.[1];
  return [value, ...valuesIn(value), ...(attached === undefined ? [] : [attached])].map((it) => ({ value: it, dynamic }));
}

/** True if the command itself may write. Ignores redirections, which are checked separately. */
function mayWrite(command: SubCommand, isDangerous: boolean): boolean {
  const name = executableOf(command);
  if (name === '' || ENTERING.has(name ?? '') || reads({ ...command, redirects: [] })) return false;
  if (name === 'git') return WRITING_ACTIONS.has(actionOf(command, name) ?? '') || fetches(command);
  return isDangerous || !FILTERS.has(name ?? '');
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
