/** Word of a command without quotes. */
export interface ShellWord {
  readonly value: string;
  /** Expansions or patterns decide when it runs what the word is; `value` is then only its text. */
  readonly dynamic: boolean;
}

export interface ShellAssignment {
  readonly name: string;
  readonly value: string;
  readonly dynamic: boolean;
}

export interface ShellRedirect {
  readonly operator: string;
  readonly target: ShellWord;
}

/** Source of a command's standard input, if not the terminal. `text`: a here-document with known text. */
export type ShellInput =
  | { readonly from: 'pipe'; readonly before: string }
  | { readonly from: 'file'; readonly target: string }
  | { readonly from: 'text'; readonly text: string; readonly dynamic: boolean };

/** Simple command of a command line, at any depth. */
export interface SubCommand {
  /** Executable and arguments; empty when there are only assignments or redirections, also those around a group of commands. */
  readonly words: readonly ShellWord[];
  readonly assignments: readonly ShellAssignment[];
  readonly redirects: readonly ShellRedirect[];
  readonly input?: ShellInput;
  /** Source text, without leading assignments, with redirections before its name. */
  readonly text: string;
  /** True for what another command runs by its arguments (`xargs rm`, `bash -c …`), which was not written as a command. */
  readonly inner: boolean;
  /** Further words come from the input: `xargs kubectl` may run `kubectl delete`. */
  readonly more?: true;
}

/** Syntax that some rule engines refuse. */
export type ShellFeature =
  | 'pipe'
  | 'chain'
  | 'background'
  | 'group'
  | 'function'
  | 'expansion'
  | 'substitution'
  | 'process substitution'
  | 'prompt expansion'
  | 'evaluated subscript'
  | 'redirection';

/** A command line as far as it can be known without running it. */
export interface ParsedCommand {
  readonly source: string;
  /** Reason why the line cannot be read reliably; readable parts are still present. */
  readonly fault?: string;
  /** Present if parts of the line were not read, which may be any command. */
  readonly unread?: true;
  readonly commands: readonly SubCommand[];
  readonly features: ReadonlySet<ShellFeature>;
  /** Functions that start themselves again in the background or twice in a pipe. */
  readonly forkBomb: boolean;
  /** The call names a folder that the line starts in, which may have settings of its own. */
  readonly elsewhere?: true;
}

/** Base name of the executable: `/usr/bin/git` is git. Empty if there is none; undefined if unknown before the run. */
export function executableOf({ words }: SubCommand): string | undefined {
  const [first] = words;
  if (first === undefined) return '';
  return first.dynamic ? undefined : first.value.slice(first.value.lastIndexOf('/') + 1);
}

/** Executable and arguments with one space between, without quotes: the text that patterns match. */
export function plainText({ words }: SubCommand): string {
  return words.map(({ value }) => value).join(' ');
}
