import { globMatches } from '#patterns';
import type { CallFacts } from '../call-facts.js';
import { commandPatterns, type CommandPatterns } from '../patterns/command-patterns.js';
import { BUILTIN, matchingPattern } from '../patterns/tool-pattern.js';
import { extraEffects, writesFiles } from '../shell/extra-effects.js';
import { findDangerousCommand, meansItsText } from '../shell/dangerous-command.js';
import { isReadonly } from '../shell/readonly.js';
import { plainText, type ParsedCommand, type SubCommand } from '../shell/sub-command.js';
import { writtenText } from '../shell/written-text.js';
import type { RiskArguments } from '../risk-arguments/risk-arguments.js';
import { evaluatePath } from '../risk-arguments/evaluate-path.js';
import { matchingOperation, type OperationArgument } from '../risk-arguments/operation.js';
import { settingsOf } from './tool-settings.js';
import { ANY_ARGUMENTS, isWritten } from './trust-options.js';

/** Reason why the tool needs no approval at all; undefined if there is none. */
export function toolTrust({ tool, policy, grants }: Pick<CallFacts, 'tool' | 'policy' | 'grants'>): string | undefined {
  const allowed = matchingPattern(policy.allowedTools, tool);
  if (allowed !== undefined) return `allowedTools: ${allowed}`;
  if (settingsOf(tool, policy).autoAllow === true) return `toolsSettings: ${tool.name} runs without approval`;
  // Only `@source/name` counts for a tool of a source: its short name may have belonged to another source's tool.
  const trusted = grants.trustedTools.filter((name) => tool.source === BUILTIN || name.startsWith('@'));
  return matchingPattern(trusted, tool) === undefined ? undefined : `trusted for the session: ${tool.name}`;
}

/**
 * Reason why these arguments need no approval: every command and operation is allowed by a pattern or only reads, every path
 * and agent is trusted by name. Undefined if any is not, or without arguments to trust. `counts`: filter of the patterns of
 * commands.
 */
export function argumentTrust(
  facts: CallFacts,
  { commands, paths, urls, operations, agents }: RiskArguments,
  counts?: (pattern: string) => boolean,
): string | undefined {
  if (facts.policy.trustModelApproval && facts.args['approved'] === true) return 'approved by the model, which this policy accepts';
  if (urls.length > 0) return undefined;
  const reasons: string[] = [];
  const trusts = [
    ...commands.map((command) => commandTrust(command, facts, counts)),
    ...operations.map((operation) => operationTrust(operation, facts)),
    ...agents.map((agent) => agentTrust(agent, facts)),
  ];
  for (const reason of trusts) {
    if (reason === undefined) return undefined;
    reasons.push(reason);
  }
  for (const subject of paths) {
    const { effect, trustedBy } = evaluatePath(subject, facts);
    if (effect !== 'allow' || (trustedBy === undefined && subject.access === 'write')) return undefined;
    if (trustedBy !== undefined) reasons.push(trustedBy);
  }
  return reasons.length === 0 ? undefined : [...new Set(reasons)].join('; ');
}

/** Reason why a command needs no approval: patterns of the configuration or the session, or the command only reads. */
export function commandTrust(
  reading: ParsedCommand,
  facts: Pick<CallFacts, 'policy' | 'grants' | 'patternsBy'>,
  counts?: (pattern: string) => boolean,
): string | undefined {
  if (findDangerousCommand(reading) !== undefined) return meansItsText(reading) ? textTrust(reading, facts) : undefined;
  if (facts.policy.commands.autoAllowReadonly && isReadonly(reading)) return 'the command only reads';
  return patternTrust(reading, facts, counts) ?? textTrust(reading, facts);
}

/** Same as `commandTrust`, by patterns for single commands only: their author has read the effect of the command. */
export function exactCommandTrust(reading: ParsedCommand, facts: Pick<CallFacts, 'policy' | 'grants' | 'patternsBy'>): string | undefined {
  if (findDangerousCommand(reading) !== undefined) return undefined;
  return patternTrust(reading, facts, isExact) ?? textTrust(reading, facts);
}

/** The same by patterns that are the very text of a command, with its quotes, variables and here-document. */
function textTrust(reading: ParsedCommand, facts: Pick<CallFacts, 'policy' | 'grants' | 'patternsBy'>): string | undefined {
  return trustBy(reading, facts, (lists, command) => lists.flatMap((list) => list.matching(textFor(list, command))).find(isExact));
}

/** Besides escaped characters, and what `trustOptions` puts around the spellings of a command, it has no special ones. */
export function isExact(pattern: string): boolean {
  const plain = pattern.replaceAll(/\\[^\w\s]/g, '').replaceAll(/^\^|\$$/g, '');
  return !/[.*+?()[\]{}^$\\]/.test(plain.replace(/^\(\?:(.*)\)$/s, '$1'));
}

function patternTrust(
  reading: ParsedCommand,
  facts: Pick<CallFacts, 'policy' | 'grants' | 'patternsBy'>,
  counts: (pattern: string) => boolean = () => true,
): string | undefined {
  return trustBy(reading, facts, (lists, command) => matchingAllowPattern(lists, command, counts));
}

/** `inEveryPipe`: patterns of the configuration, whose author has read the effect of single commands. A person has seen one line. */
interface TrustList extends CommandPatterns {
  readonly inEveryPipe: boolean;
}

/** Text that an exact pattern of the list must match. */
function textFor({ inEveryPipe }: TrustList, command: SubCommand): string {
  return inEveryPipe && command.input?.from === 'pipe' ? extraEffects(command) + command.text : writtenText(command);
}

/** Trust in a line by a pattern for each of its commands. */
function trustBy(
  reading: ParsedCommand,
  { policy, grants, patternsBy = 'operator' }: Pick<CallFacts, 'policy' | 'grants' | 'patternsBy'>,
  patternOf: (lists: readonly TrustList[], command: SubCommand) => string | undefined,
): string | undefined {
  if (policy.commands.allowedCommands.length + grants.allowedCommands.length === 0) return undefined;
  const lists = [
    { ...commandPatterns(policy.commands.allowedCommands, patternsBy, reading), inEveryPipe: true },
    { ...commandPatterns(grants.allowedCommands, 'user', reading), inEveryPipe: false },
  ];
  const written = reading.commands.filter(isWritten);
  if (written.length === 0) return undefined;
  const matched = written.map((command) => patternOf(lists, command));
  return matched.every((pattern) => pattern !== undefined) ? `allowed commands: ${[...new Set(matched)].join(', ')}` : undefined;
}

/** Reason why an operation needs no approval: the settings of the tool, or the operation only reads. */
export function operationTrust(operation: OperationArgument, { tool, policy }: Pick<CallFacts, 'tool' | 'policy'>): string | undefined {
  const { allowedServices = [], autoAllowReadonly = true } = settingsOf(tool, policy);
  const allowed = matchingOperation(allowedServices, operation);
  if (allowed !== undefined) return `allowedServices: ${allowed}`;
  return autoAllowReadonly && operation.readOnly ? `the operation ${operation.text} only reads` : undefined;
}

export function agentTrust(name: string, { tool, policy }: Pick<CallFacts, 'tool' | 'policy'>): string | undefined {
  const trusted = settingsOf(tool, policy).trustedAgents?.find((pattern) => globMatches(pattern, name));
  return trusted === undefined ? undefined : `trustedAgents: ${trusted}`;
}

/**
 * The words must fit, with the variables that they set, and also the text with its redirections: `ls` does not allow `ls > file`,
 * nor does `ls` with any arguments. A pattern of one very text must have what the command reads: `python3` of `cat a | python3` allows
 * no here-document.
 */
function matchingAllowPattern(lists: readonly TrustList[], command: SubCommand, counts: (pattern: string) => boolean): string | undefined {
  const besides = extraEffects(command);
  for (const list of lists) {
    const { matching } = list;
    const text = textFor(list, command);
    const whole = text === besides + command.text ? undefined : matching(text);
    const fitting = matching(besides + plainText(command)).filter((it) => counts(it) && (whole?.includes(it) !== false || !isExact(it)));
    if (fitting.length === 0) continue;
    const written = command.redirects.length === 0 ? fitting : matching(besides + command.text);
    const pattern = fitting.find((it) => written.includes(it) && !(it.endsWith(ANY_ARGUMENTS) && writesFiles(command)));
    if (pattern !== undefined) return pattern;
  }
  return undefined;
}
