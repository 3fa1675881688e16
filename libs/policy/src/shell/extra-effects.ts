import { HARMLESS_VARIABLES, isHarmlessPager } from './dangerous-command.js';
import type { ShellAssignment, ShellRedirect, SubCommand } from './sub-command.js';

/** Set without a command, a variable reaches programs only where the environment has it already: by custom not under such a name. */
const SHELL_VARIABLE = /^[a-z][a-z0-9]*$/;
const DECLARING: ReadonlySet<string> = new Set(['export', 'declare', 'typeset', 'local', 'readonly']);

/**
 * Effects of a command outside of its words, as text: variables that it sets, and redirections of a group around it. Empty for
 * most commands. Redirections of the command itself are in its `text`.
 */
export function extraEffects({ words, assignments, redirects }: SubCommand): string {
  const declares = DECLARING.has(words[0]?.value ?? '');
  const set = declares ? [] : assignments.filter((it) => changesPrograms(it, words.length > 0));
  const written = words.length > 0 ? [] : redirects.filter(writesFile);
  return [
    ...set.map(({ name, value }) => `${name}=${/[\s']/.test(value) ? `'${value.replaceAll("'", String.raw`'\''`)}'` : value} `),
    ...written.map(({ operator, target }) => `${operator} ${target.value} `),
  ].join('');
}

/** True if output of the command is redirected to a file. Excludes standard streams and the null device. */
export function writesFiles({ redirects }: SubCommand): boolean {
  return redirects.some(writesFile);
}

function writesFile({ operator, target }: ShellRedirect): boolean {
  if (!operator.includes('>') || /^\/dev\/(?:null|stdout|stderr)$/.test(target.value)) return false;
  return operator !== '>&' || !/^(?:\d+|-)$/.test(target.value);
}

function changesPrograms(assignment: ShellAssignment, forOneCommand: boolean): boolean {
  if (HARMLESS_VARIABLES.test(assignment.name) || isHarmlessPager(assignment)) return false;
  return forOneCommand || !SHELL_VARIABLE.test(assignment.name);
}
