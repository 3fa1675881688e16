import type { ParsedCommand } from './sub-command.js';

/** The words of a command that are http or https URLs, alone or behind an option's `=`. */
export function urlsInCommand({ commands }: ParsedCommand): readonly string[] {
  return commands.flatMap(({ words }) => words.slice(1).flatMap(({ value }) => urlIn(value)));
}

function urlIn(word: string): string[] {
  const at = word.search(/https?:\/\//i);
  return at === -1 || word.length > 8_192 ? [] : [word.slice(at)];
}
