import { parseCommand } from './parse-command.js';
import type { ParsedCommand, ShellWord } from './sub-command.js';

const SHELLS = new Set(['bash', 'sh', 'shell']);
const LITERAL = /"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\]|\\.)*)`/g;
const LONGEST_CODE = 100_000;

/** A text that a tool runs: a shell command is parsed; code in another language cannot be read for certain. */
export function readCommand(source: string, language: string | undefined): ParsedCommand {
  return language === undefined || SHELLS.has(language) ? parseCommand(source) : codeReading(source, language);
}

/**
 * Code as a command of which only running tells what it does: rules treat it as one that cannot be read. Its string
 * literals count as words, so that denied paths and hosts that it names are found; names that it puts together are not.
 */
function codeReading(source: string, language: string): ParsedCommand {
  const literals = source.length > LONGEST_CODE ? [] : [...source.matchAll(LITERAL)].map((it) => word(it[1] ?? it[2] ?? it[3] ?? ''));
  return {
    source,
    fault: `it is ${language} code, and only running it tells what it does`,
    commands: [{ words: [{ value: language, dynamic: true }, ...literals], assignments: [], redirects: [], text: source, inner: false }],
    features: new Set(),
    forkBomb: false,
  };
}

function word(value: string): ShellWord {
  return { value, dynamic: false };
}
