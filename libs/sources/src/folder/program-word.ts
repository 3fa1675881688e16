import { statSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { findExecutable } from '#sandbox';

/**
 * True for a word of `run` that is a file of the tool's folder: begins with `./`, or is the name of one there. Programs on the
 * PATH are not.
 */
export function isOwnFile(folder: string, word: string, index: number): boolean {
  if (word.startsWith('./')) return true;
  if (word === '' || word.startsWith('-') || isAbsolute(word) || word.includes('\0') || word.split('/').includes('..')) return false;
  if (index === 0 && !word.includes('/') && findExecutable([word]) !== undefined) return false;
  return statSync(join(folder, word), { throwIfNoEntry: false })?.isFile() === true;
}
