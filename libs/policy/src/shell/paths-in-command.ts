import type { ParsedCommand, ShellWord, SubCommand } from './sub-command.js';

export interface PathWord {
  readonly path: string;
  readonly access: 'read' | 'write';
  /** True for a word in the form of a path; any other word may still be a name in the workspace. */
  readonly sure: boolean;
  /** An expansion at its start decides where it is. */
  readonly unknown?: true;
}

/** Devices that hold nothing. */
const HARMLESS = /^\/dev\/(?:null|zero|full|random|urandom|tty|std(?:in|out|err)|fd\/\d+)$/;
// oxlint-disable-next-line no-control-regex -- words with control characters are programs or messages
const NO_PATH = /[\u0000-\u001f\u007f]|:\/\/|[\u202a-\u202e\u2066-\u2069]/;

/** The words of a command line that are or may be paths: plain ones, targets of redirections, `--option=value`, `-Ovalue`. */
export function pathsInCommand({ commands }: ParsedCommand): readonly PathWord[] {
  return commands.flatMap(pathsOf);
}

function pathsOf({ words, redirects, assignments }: SubCommand): PathWord[] {
  const plain = words.slice(1).flatMap((word) => alternatives(word).flatMap((value) => [value, ...valuesIn(value)]));
  const read = [...plain, ...assignments.map(({ value }) => value)].flatMap((path) => pathWord(path, 'read'));
  const unknown = words.slice(1).flatMap((word) => [...unknownPath(word)]);
  const targets = redirects
    .filter(({ operator, target }) => !(operator.endsWith('&') && /^[\d-]+$/.test(target.value)))
    .flatMap(({ operator, target }) => targetOf(target, operator.includes('>') ? 'write' : 'read'));
  return [...read, ...unknown, ...targets];
}

/** A word, and the pieces of a brace expansion in it. */
function alternatives({ value, dynamic }: ShellWord): string[] {
  return dynamic && value.includes('{') ? [value, ...value.split(/[{},]/).filter((piece) => /^[/~.]/.test(piece))] : [value];
}

/** `$HOME/.ssh`, `~root/.ssh`: a path of a folder that an expansion names. An expansion alone may be any text. */
function unknownPath({ value, dynamic }: ShellWord): PathWord[] {
  const isPath = (dynamic && /^(?:--?[\w-]+=)?\$[^/\s]*\//.test(value)) || /^~[^/\s]+\//.test(value);
  return isPath && !NO_PATH.test(value) ? [{ path: value, access: 'read', sure: false, unknown: true }] : [];
}

function targetOf(target: ShellWord, access: PathWord['access']): PathWord[] {
  const found = pathWord(target.value, access, true);
  return target.dynamic && /[$`]/.test(target.value) ? [...found, { path: target.value, access, sure: false, unknown: true }] : found;
}

/** The values of options and assignments: `--option=value`, `name=value`, `-Ovalue`. */
export function valuesIn(word: string): string[] {
  const long = /^--?[\w-]+=([^]+)$/.exec(word)?.[1] ?? /^[A-Za-z_]\w*=([^]+)$/.exec(word)?.[1];
  const attached = /^-[A-Za-z]([/~.][^]*)$/.exec(word)?.[1];
  return [long, attached].filter((it) => it !== undefined);
}

function pathWord(path: string, access: PathWord['access'], target = false): PathWord[] {
  if (path === '' || path.length > 4_096 || NO_PATH.test(path) || HARMLESS.test(path) || (path.startsWith('-') && !target)) return [];
  const sure = target || path.startsWith('/') || path === '~' || path.startsWith('~/') || path.split('/').includes('..');
  // Skips words with a disguised `..`, which path rules would deny: in a message or a program they are only text.
  return sure || !/%2e|%2f|[\u2024\u2025\u2044\u2215\u29f8\uff0e\uff0f\\]|^~/i.test(path) ? [{ path, access, sure }] : [];
}
