import { readsScriptFromInput } from './inner-commands.js';
import { executableOf, type ParsedCommand, type SubCommand } from './sub-command.js';
import { readWrapper } from './wrappers.js';

/** Reason why a part of the line may be any command; undefined if all programs are known by name. */
export function unreadPart({ unread, fault, commands }: ParsedCommand): string | undefined {
  if (unread === true) return fault ?? 'it was not read';
  for (const command of commands) {
    const why = unknownProgram(command);
    if (why !== undefined) return why;
  }
  return undefined;
}

/** Reason why a command may run any program: an expansion names it, or a shell reads it from a pipe or a file. */
export function unknownProgram(command: SubCommand): string | undefined {
  const [first] = command.words;
  const name = executableOf(command);
  if (name === undefined) return `only running it tells which program "${first?.value ?? ''}" is; write its name`;
  if (readsScriptFromInput(command) && command.input?.from !== 'text') return `${name} runs what it is sent, which was not read`;
  if (name === 'shopt' && command.words.some(({ value }) => value === 'expand_aliases')) return 'aliases may stand for any command';
  if (name === 'parallel' && readWrapper(command).inner.length === 0) return 'parallel runs what it is sent, which was not read';
  return undefined;
}
