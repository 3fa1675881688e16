import { realpathSync } from 'node:fs';
import type { Command } from 'commander';

/** The words that start this program from any folder: Node and the file, both with their whole path. */
export function thisProgram(): [string, string] {
  return [process.execPath, realpathSync(process.argv[1] ?? '')];
}

/** The options that a command was given, except `without`, as words for another start of the command. */
export function givenOptions(command: Command, without: string): string[] {
  return command.options.flatMap((option) => {
    const name = option.attributeName();
    if (name === without || command.getOptionValueSource(name) !== 'cli') return [];
    const given: unknown = command.getOptionValue(name);
    return [given].flat().flatMap((value) => [option.long ?? '', String(value)]);
  });
}
