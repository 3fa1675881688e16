import type { TrustOption } from '#contracts';
import { quoteExpression } from '#patterns';
import type { CallFacts } from '../call-facts.js';
import { extraEffects } from '../shell/extra-effects.js';
import { findDangerousCommand, meansItsText } from '../shell/dangerous-command.js';
import { isShell } from '../shell/inner-commands.js';
import { executableOf, type ParsedCommand, type SubCommand } from '../shell/sub-command.js';
import { writtenText } from '../shell/written-text.js';
import { isWrapper } from '../shell/wrappers.js';
import { riskArgumentsOf, type RiskArguments, type PathArgument } from '../risk-arguments/risk-arguments.js';
import { lexicalPath } from '../patterns/lexical-path.js';

/** A folder nearer to the root than this is too much to trust at once: `/w/p` counts three. */
const LEAST_DEPTH = 3;
const LONGEST_TEXT = 1_000;

/** End of the pattern for a program with any arguments. Redirections are not arguments. */
export const ANY_ARGUMENTS = '( .*)?$';

/**
 * Options to trust more than this call for the rest of the session: the exact command, the command with other arguments, or its
 * program; the exact paths, or their common folder. Only the exact text for a command with variables. None for a dangerous
 * command, nor for a call that also has URLs, operations or agents.
 */
export function trustOptions(facts: CallFacts): TrustOption[] {
  return trustOptionsFor(facts, riskArgumentsOf(facts));
}

export function trustOptionsFor(
  { workspaceRoot }: Pick<CallFacts, 'workspaceRoot'>,
  { commands, paths, urls, operations, agents }: RiskArguments,
): TrustOption[] {
  if (urls.length + operations.length + agents.length > 0 || commands.length > 1) return [];
  const [command] = commands;
  return command === undefined ? forPaths(paths, workspaceRoot) : forCommand(command);
}

function forCommand(reading: ParsedCommand): TrustOption[] {
  const written = reading.commands.filter(isWritten);
  if (written.length === 0 || reading.source.length > LONGEST_TEXT) return [];
  if (findDangerousCommand(reading) !== undefined)
    return meansItsText(reading) ? [commandOption('command-full', 'Full command', written.map(full))] : [];
  const options = [commandOption('command-full', 'Full command', written.map(full))];
  const partial = written.map(withFirstArgument);
  if (partial.every((it) => it !== undefined)) options.push(commandOption('command-partial', 'Partial command', partial));
  const base = written.map(programOnly);
  if (base.every((it) => it !== undefined)) options.push(commandOption('command-base', 'Base command', base));
  return options;
}

/** True if the command is part of the source text, and has an effect. */
export function isWritten(command: SubCommand): boolean {
  return !command.inner && (command.words.length > 0 || extraEffects(command) !== '');
}

interface Pattern {
  readonly display: string;
  readonly pattern: string;
}

function commandOption(id: string, label: string, patterns: readonly Pattern[]): TrustOption {
  const unique = [...new Map(patterns.map((it) => [it.pattern, it])).values()];
  return {
    id,
    label,
    display: unique.map(({ display }) => display).join(', '),
    grants: { allowedCommands: unique.map(({ pattern }) => pattern) },
  };
}

/** Pattern of the text with its quotes, redirections and here-document: `a "b c"` and `a b c` are different commands. */
function full(command: SubCommand): Pattern {
  const written = writtenText(command);
  return { display: written.trim(), pattern: `^(?:${quoteExpression(written)})$` };
}

function withFirstArgument(command: SubCommand): Pattern | undefined {
  const [program, first] = command.words.map(({ value }) => value);
  if (
    program === undefined ||
    first === undefined ||
    /^[-/]|\s/.test(first) ||
    command.words[1]?.dynamic === true ||
    command.redirects.length > 0 ||
    extraEffects(command) !== ''
  )
    return undefined;
  return { display: `${program} ${first} *`, pattern: `^${quoteExpression(`${program} ${first}`)}${ANY_ARGUMENTS}` };
}

/** Trusting a shell or `sudo` would be trusting everything. */
function programOnly(command: SubCommand): Pattern | undefined {
  const program = command.words[0]?.value;
  const name = executableOf(command);
  if (
    program === undefined ||
    name === undefined ||
    isShell(name) ||
    isWrapper(name) ||
    name === 'eval' ||
    name === 'source' ||
    name === '.' ||
    command.redirects.length > 0 ||
    extraEffects(command) !== ''
  )
    return undefined;
  return { display: `${program} *`, pattern: `^${quoteExpression(program)}${ANY_ARGUMENTS}` };
}

function forPaths(paths: readonly PathArgument[], workspaceRoot: string): TrustOption[] {
  const read = paths.map((it) => ({ access: it.access, at: lexicalPath(it.path, workspaceRoot) }));
  const absolute = read.flatMap(({ access, at }) => (at.ok ? [{ access, path: at.absolute }] : []));
  if (absolute.length === 0 || absolute.length < paths.length) return [];
  const options = [pathOption('paths', 'Specific paths', absolute)];
  const folder = commonFolder(absolute.map(({ path }) => path));
  const access = absolute.some((it) => it.access === 'write') ? 'write' : 'read';
  return folder === undefined ? options : [...options, pathOption('directory', 'Complete directory', [{ access, path: folder }])];
}

function pathOption(
  id: string,
  label: string,
  paths: readonly { readonly access: 'read' | 'write'; readonly path: string }[],
): TrustOption {
  const of = (access: 'read' | 'write') => [...new Set(paths.filter((it) => it.access === access).map(({ path }) => path))];
  const [read, write] = [of('read'), of('write')];
  const allowedPaths = { ...(read.length > 0 ? { read } : {}), ...(write.length > 0 ? { write } : {}) };
  return { id, label, display: [...new Set([...write, ...read])].join(', '), grants: { allowedPaths } };
}

/** The folder around all of the paths, unless it is too near to the root. */
function commonFolder(paths: readonly string[]): string | undefined {
  const folders = paths.map((path) => path.split('/').slice(0, -1));
  const [first = []] = folders;
  const length = first.findIndex((name, index) => folders.some((other) => other[index] !== name));
  const common = length === -1 ? first : first.slice(0, length);
  return common.length < LEAST_DEPTH ? undefined : common.join('/');
}
