import { forEachChild, parse, type Assignment, type Command, type Redirection, type SyntaxNode, type Word } from 'unbash';
import { innerCommands } from './inner-commands.js';
import type { ParsedCommand, ShellFeature, ShellInput, ShellRedirect, ShellWord, SubCommand } from './sub-command.js';

const LONGEST_COMMAND = 100_000;
/** Bound of the product of substitutions and text length, since the search for the end of each one reads the whole text. */
const MOST_SEARCHED = 10_000_000;
const DEEPEST_SCRIPT = 8;
/**
 * Characters of all scripts of one command line together. A text is read once for each command that may run it: `env -S`
 * runs what follows it, and each `env -S` in that again.
 */
const MOST_READ = 200_000;
/** Each rule looks at each command and each word, so these bound the CPU time that a evaluation takes. */
const MOST_COMMANDS = 2_000;
const MOST_WORDS = 10_000;

/**
 * Reads a command line with a parser of the whole bash grammar, without running anything. Never throws: unreadable parts set
 * `fault`. Finds sub-commands at any place: in lists, pipes, groups, functions, substitutions, here-documents, and in the
 * arguments of commands that run others (`sudo`, `xargs`, `find -exec`, `bash -c`, `eval`).
 */
export function parseCommand(source: string): ParsedCommand {
  const found = new ParsedParts();
  try {
    readScript(source, found, 0);
  } catch {
    found.fault ??= 'the command is too complicated to read';
  }
  const { commands, features, fault, forkBomb } = found;
  return { source, commands, features, forkBomb, ...(fault === undefined ? {} : { fault, unread: true }) };
}

/** Ends the reading of a command that costs too much. */
class TooComplicated extends Error {}

class ParsedParts {
  private charactersLeft = MOST_READ;
  private wordsLeft = MOST_WORDS;
  readonly commands: SubCommand[] = [];
  readonly features = new Set<ShellFeature>();
  fault: string | undefined;
  forkBomb = false;

  /** @throws TooComplicated when this script makes too many */
  take(script: string): void {
    this.charactersLeft -= script.length;
    if (this.charactersLeft < 0) throw new TooComplicated();
  }

  /** Adds a command. @throws TooComplicated if there are too many commands or words; earlier ones are kept */
  add(command: SubCommand): void {
    const { words, assignments, redirects } = command;
    this.wordsLeft -= words.length + assignments.length + redirects.length;
    if (this.wordsLeft < 0) this.fault ??= `the command has more than ${MOST_WORDS} words`;
    if (this.commands.length >= MOST_COMMANDS) this.fault ??= `the command consists of more than ${MOST_COMMANDS} commands`;
    if (this.wordsLeft < 0 || this.commands.length >= MOST_COMMANDS) throw new TooComplicated();
    this.commands.push(command);
  }
}

/** `depth`: how many commands run this script by their arguments. */
function readScript(source: string, found: ParsedParts, depth: number): void {
  if (depth > 0) found.take(source);
  if (source.length > LONGEST_COMMAND) found.fault ??= `the command is longer than ${LONGEST_COMMAND} characters`;
  if (source.includes('\r')) found.fault ??= 'the command has a carriage return in it';
  if (source.includes('\0')) found.fault ??= 'the command has a NUL character in it';
  const substitutions = source.split(/\$\(|[<>]\(|`|\$\{/).length - 1;
  const searched = substitutions * source.length;
  if (searched > MOST_SEARCHED) found.fault ??= 'the command has too many substitutions for its length';
  if (source.length <= LONGEST_COMMAND && searched <= MOST_SEARCHED) new CommandWalker(source, found, depth).visit(parse(source), TOP);
}

/** Context of a node. Groups pass their input on to their commands. */
interface Scope {
  readonly input?: ShellInput;
  /** Functions whose body this is. */
  readonly functions: readonly string[];
  /** True in the background, or in a pipe within a function: commands run in parallel to the function. */
  readonly beside: boolean;
}
const TOP: Scope = { functions: [], beside: false };

/** Bash runs what is in a subscript of these, also where it is quoted: `[[ 'a[$(id)]' -eq 0 ]]`. */
const ARITHMETIC: ReadonlySet<string> = new Set(['TestCommand', 'ArithmeticCommand', 'ArithmeticFor', 'ArithmeticExpansion']);
const SUBSTITUTION = /\$[({]|`/;

/** True if a substitution follows an open `[`. Linear. */
function hasEvaluatedSubscript(text: string): boolean {
  return text.split(']').some((piece) => piece.includes('[') && SUBSTITUTION.test(piece.slice(piece.indexOf('['))));
}

class CommandWalker {
  constructor(
    private readonly source: string,
    private readonly found: ParsedParts,
    private readonly depth: number,
  ) {}

  visit(node: SyntaxNode, scope: Scope): void {
    this.note(node, scope);
    if (node.type === 'Pipeline') {
      const beside = scope.beside || node.commands.length > 1;
      const [first] = node.commands;
      node.commands.forEach((command, index) => {
        const before = this.source.slice(first?.pos, node.commands[index - 1]?.end);
        this.visit(command, { ...scope, beside, ...(index === 0 ? {} : { input: { from: 'pipe', before } }) });
      });
      return;
    }
    if (node.type === 'Command') this.read(commandOf(node, this.source, scope.input, this.depth > 0), this.depth);
    else this.readAround(node);
    // An escaped back-tick script: its positions count in its own text.
    const walk = node.type === 'Script' && node.source !== undefined ? new CommandWalker(node.source, this.found, this.depth) : this;
    const within = scopeWithin(node, scope);
    forEachChild(node, (child) => walk.visit(child, within));
  }

  /** Adds the redirections of a group, and the variable of a loop, as a command without words. */
  private readAround(node: SyntaxNode): void {
    const around = { words: [], assignments: [], redirects: [], text: '', inner: this.depth > 0 };
    if (node.type === 'Redirected') this.found.add({ ...around, redirects: node.redirects.flatMap(redirectOf) });
    if (node.type === 'For' || node.type === 'Select')
      this.found.add({ ...around, assignments: [{ name: node.name.value, value: '', dynamic: true }] });
  }

  /** Notes a command and everything that it runs by its arguments. */
  private read(command: SubCommand, depth: number): void {
    this.found.add(command);
    const { commands, scripts } = innerCommands(command);
    for (const inner of commands) if (this.descends(depth)) this.read(inner, depth + 1);
    for (const script of scripts) {
      if (!this.descends(depth)) return;
      readScript(script, this.found, depth + 1);
    }
  }

  private descends(depth: number): boolean {
    if (depth < DEEPEST_SCRIPT) return true;
    this.found.fault ??= 'commands that run commands are nested too deeply';
    return false;
  }

  private note(node: SyntaxNode, scope: Scope): void {
    const { features } = this.found;
    if (node.type === 'Script' && node.errors !== undefined && node.errors.length > 0) {
      this.found.fault ??= `the command is not valid bash: ${node.errors[0]?.message ?? 'unknown fault'}`;
    }
    if ((node.type === 'Script' || node.type === 'CompoundList') && node.commands.length > 1) features.add('chain');
    if (node.type === 'Statement' && node.background === true) features.add('background');
    if (node.type === 'Pipeline' && node.commands.length > 1) features.add('pipe');
    if (node.type === 'ParameterExpansion' && node.operation?.type === 'Transform' && node.operation.operand.value.includes('P'))
      features.add('prompt expansion');
    if (ARITHMETIC.has(node.type) && hasEvaluatedSubscript(this.source.slice(node.pos + 2, node.end))) features.add('evaluated subscript');
    if (node.type === 'Command' && scope.beside && node.name !== undefined && scope.functions.includes(node.name.value))
      this.found.forkBomb = true;
    const feature = FEATURES[node.type];
    if (feature !== undefined) features.add(feature);
  }
}

function scopeWithin(node: SyntaxNode, scope: Scope): Scope {
  if (node.type === 'Redirected') {
    const input = inputOf(node.redirects);
    return input === undefined ? scope : { ...scope, input };
  }
  if (node.type === 'Function') return { ...scope, functions: [...scope.functions, node.name.value] };
  if (node.type === 'Statement' && node.background === true) return { ...scope, beside: true };
  return scope;
}

function commandOf(node: Command, source: string, input: ShellInput | undefined, inner: boolean): SubCommand {
  const declared = node.args.filter((arg) => arg.type === 'Assignment');
  const ownInput = inputOf(node.redirects) ?? input;
  return {
    words: [...(node.name ? [node.name] : []), ...node.args].map((it) => ({
      value: it.type === 'Word' ? it.value : it.text,
      dynamic: isDynamic(it),
    })),
    assignments: [...node.prefix, ...declared]
      .filter((it) => it.type === 'Assignment')
      .map((it) => ({ name: it.name, value: assignedValue(it), dynamic: isDynamic(it) })),
    redirects: node.redirects.flatMap(redirectOf),
    text: node.name ? source.slice(Math.min(node.name.pos, ...node.redirects.map(({ pos }) => pos)), node.end) : '',
    inner,
    ...(ownInput === undefined ? {} : { input: ownInput }),
  };
}

/** Of lists, and of what is added to a value or set in a list, the text of the whole assignment. */
function assignedValue({ name, value, text }: Assignment): string {
  return value.type === 'Word' && text.startsWith(`${name}=`) ? value.value : text;
}

const FEATURES: Partial<Record<SyntaxNode['type'], ShellFeature>> = {
  AndOr: 'chain',
  Subshell: 'group',
  BraceGroup: 'group',
  If: 'group',
  For: 'group',
  ArithmeticFor: 'group',
  Select: 'group',
  While: 'group',
  Case: 'group',
  Coproc: 'background',
  Function: 'function',
  SimpleExpansion: 'expansion',
  ParameterExpansion: 'expansion',
  ArithmeticExpansion: 'expansion',
  CommandExpansion: 'substitution',
  ArithmeticCommandExpansion: 'substitution',
  ProcessSubstitution: 'process substitution',
  Redirect: 'redirection',
  HereString: 'redirection',
  HereDoc: 'redirection',
};

const DYNAMIC = new Set<SyntaxNode['type']>([
  'SimpleExpansion',
  'ParameterExpansion',
  'ArithmeticExpansion',
  'CommandExpansion',
  'ProcessSubstitution',
  'Glob',
  'ExtendedGlob',
  'BraceExpansion',
]);

function isDynamic(node: SyntaxNode): boolean {
  if (DYNAMIC.has(node.type)) return true;
  let dynamic = false;
  forEachChild(node, (child) => {
    dynamic ||= isDynamic(child);
  });
  return dynamic;
}

function wordOf(word: Word): ShellWord {
  return { value: word.value, dynamic: isDynamic(word) };
}

function redirectOf(redirect: Redirection): ShellRedirect[] {
  if (redirect.type !== 'Redirect' || redirect.target === undefined) return [];
  return [{ operator: redirect.operator, target: wordOf(redirect.target) }];
}

function inputOf(redirects: readonly Redirection[]): ShellInput | undefined {
  const last = redirects.findLast((it) => it.operator.startsWith('<'));
  if (last === undefined) return undefined;
  if (last.type === 'HereDoc') return { from: 'text', text: last.body.text, dynamic: isDynamic(last.body) };
  if (last.type === 'HereString')
    return { from: 'text', text: last.target?.value ?? '', dynamic: last.target !== undefined && isDynamic(last.target) };
  return { from: 'file', target: last.target?.value ?? '' };
}
