import { ToolError } from '#tool-sdk';

const LONGEST_PATH_CHARACTERS = 4_096;
const SHOWN_CHARACTERS = 200;
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f]/;

/** A path of the model, inside the workspace by its text. Symbolic links are checked when it is opened. */
export interface WorkspacePath {
  /** Relative to the workspace root; empty for the root itself. Never `.`, `..` or empty names. */
  readonly names: readonly string[];
  /** Path for messages: relative, never a path of this machine. */
  readonly displayPath: string;
}

/**
 * Reads a model's path. Relative paths start at the workspace root; absolute ones must begin with it. `..` is settled in
 * the text, and a path that leaves the root that way is refused, as are `~`, NUL and other control characters. Everything
 * else is a plain name: `%2e%2e` or a full-width dot mean themselves.
 */
export function parseWorkspacePath(root: string, given: string): WorkspacePath {
  if (given.trim() === '')
    throw new ToolError('invalid_arguments', 'The path is empty. Use a path relative to the workspace root, or "." for the root itself.');
  if (given.length > LONGEST_PATH_CHARACTERS || CONTROL_CHARACTERS.test(given) || given === '~' || given.startsWith('~/'))
    throw pathNotAllowed(given);
  const inside = given.startsWith('/') ? withoutRoot(root, given) : given;
  const names: string[] = [];
  for (const name of inside.split('/')) {
    if (name === '' || name === '.') continue;
    if (name !== '..') names.push(name);
    else if (names.pop() === undefined) throw pathNotAllowed(given);
  }
  return { names, displayPath: names.join('/') || '.' };
}

const ONLY_INSIDE =
  'Only paths inside the workspace are allowed, relative to its root (such as "src/app.ts"), also through symbolic links.';

/** Rejection of every path outside of the workspace; states the allowed paths and nothing about outside files. */
export function pathNotAllowed(given: string, why = ONLY_INSIDE): ToolError {
  const text = given.length > SHOWN_CHARACTERS ? `${given.slice(0, SHOWN_CHARACTERS)}…` : given;
  const shown = CONTROL_CHARACTERS.test(text) ? JSON.stringify(text) : text;
  return new ToolError('policy_denied', `Path not allowed: ${shown}. ${why}`);
}

/** The part of an absolute path below the root; absolute targets of symbolic links come through here too. */
export function withoutRoot(root: string, absolute: string): string {
  if (isWithin(absolute, root)) return absolute.slice(root.endsWith('/') ? root.length : root.length + 1);
  throw pathNotAllowed(absolute);
}

/** True if an absolute path is `folder` or below it, by its text. */
export function isWithin(absolute: string, folder: string): boolean {
  return `${absolute}/`.startsWith(folder.endsWith('/') ? folder : `${folder}/`);
}
