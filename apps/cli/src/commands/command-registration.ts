import { InvalidArgumentError, type Command } from 'commander';
import type { CommandContext } from '../command-context.js';

/** Adds a command to the program. Commands appear in the help in the order of these calls. */
export type Add = (name: string, description: string) => Command;

/** Runs the action of a command and sets the exit code of the process to its result. */
export type Start = (action: (context: CommandContext) => Promise<number>) => Promise<void>;

/** Parser of an option that may be given again. */
export const many = (value: string, before: string[] = []) => [...before, value];

/** Parser of a whole number above 0. */
export function count(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value > 0) return value;
  throw new InvalidArgumentError('Expected a whole number above 0.');
}
