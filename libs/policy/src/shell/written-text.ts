import { extraEffects } from './extra-effects.js';
import { reads } from './readonly.js';
import type { SubCommand } from './sub-command.js';

/** Whole effect of a command as text, with its quotes and what it reads. */
export function writtenText(command: SubCommand): string {
  return extraEffects(command) + command.text + inputText(command);
}

/**
 * Input of a command outside of its text: a here-document, the file of a group around it, or the commands of the pipe before it.
 * Empty for most commands, and in a pipe for those that only read.
 */
export function inputText(command: SubCommand): string {
  const { input, redirects } = command;
  if (input?.from === 'text') return `\n${input.text}`;
  if (input?.from === 'pipe') return reads(command) ? '' : `\n| ${input.before}`;
  return input?.from === 'file' && !redirects.some(({ operator }) => operator.startsWith('<')) ? `\n< ${input.target}` : '';
}
