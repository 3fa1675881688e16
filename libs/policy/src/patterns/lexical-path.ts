// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const CONTROL = /[\u0000-\u001f\u007f]/;
const DIRECTION = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;
const ENCODED = /(?:^|[/\\]|%2f|%5c)(?:%2e|\.){2}(?:%2f|%5c|[/\\]|$)|(?:%2f|%5c)(?:%2e|\.){2}/i;
const LONGEST_PATH = 4_096;

/** Path evaluated by its text alone; the worker resolves links when it opens the file. */
export type LexicalPath =
  | {
      readonly ok: true;
      /** Absolute, without `.` and `..`; `~` is a home folder that is not looked up. */ readonly absolute: string;
      readonly given: string;
      readonly parents: boolean;
      readonly relative: boolean;
    }
  | { readonly ok: false; readonly reason: string };

/** Reads a path from a model. Rejects deceptive paths: NUL and control characters, `..` in disguise, `~user`. */
export function lexicalPath(given: string, workspaceRoot: string): LexicalPath {
  if (given.length > LONGEST_PATH) return rejected(`Path is longer than ${LONGEST_PATH} characters`);
  if (given.includes('\0')) return rejected('Path has a NUL byte in it');
  if (CONTROL.test(given)) return rejected('Path has a control character in it');
  if (DIRECTION.test(given)) return rejected('Path has characters in it that change the direction of text');
  const parents = hasParents(given);
  if (
    hasDisguisedParents(
      given
        .split('/')
        .filter((name) => name !== '..')
        .join('/'),
    )
  )
    return rejected(`Path has a parent folder in disguise: ${given}`);
  if (/^~[^/]/.test(given)) return rejected(`Path begins with another user's home folder: ${given}`, 'PathResolutionFailed');
  const relative = !given.startsWith('/') && given !== '~' && !given.startsWith('~/');
  return { ok: true, absolute: normalizePath(relative ? `${workspaceRoot}/${given}` : given), given, parents, relative };
}

/** True if `path` is `folder` or below it; both settled. */
export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);
}

/** The path without empty names, `.` and `..`, by its text. A `~` in front is kept. */
export function normalizePath(path: string): string {
  const home = path === '~' || path.startsWith('~/');
  const names: string[] = [];
  for (const name of (home ? path.slice(1) : path).split('/')) {
    if (name === '' || name === '.') continue;
    if (name === '..') names.pop();
    else names.push(name);
  }
  const below = names.join('/');
  if (home) return below === '' ? '~' : `~/${below}`;
  return `/${below}`;
}

/** `..` that only another reading of the text gives: encoded, in full-width characters, between backslashes. */
function hasDisguisedParents(path: string): boolean {
  const plain = path
    .normalize('NFKC')
    .replaceAll(/[\u2024\u2025\uff0e]/g, '.')
    .replaceAll(/[\u2044\u2215\u29f8\uff0f\\]/g, '/');
  return ENCODED.test(path) || hasParents(plain);
}

function hasParents(path: string): boolean {
  return path.split('/').includes('..');
}

function rejected(detail: string, why: 'InvalidArguments' | 'PathResolutionFailed' = 'InvalidArguments'): LexicalPath {
  return { ok: false, reason: `blocked by security policy (${why}): ${detail}` };
}
