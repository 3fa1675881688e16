import { isAbsolute } from 'node:path';

/** A program by its name is looked up where the command runs: the sandbox has fewer folders than the worker. */
export function programWords([program = '', ...args]: readonly string[]): { readonly file: string; readonly args: readonly string[] } {
  return isAbsolute(program) ? { file: program, args } : { file: '/usr/bin/env', args: ['--', program, ...args] };
}
