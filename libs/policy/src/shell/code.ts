import { parseCommand } from './parse-command.js';
import type { ParsedCommand, ShellWord } from './sub-command.js';

const SHELLS = new Set(['bash', 'sh', 'shell']);
/** Content between two quotes, by the kind of quote. */
const LITERALS: Readonly<Record<string, RegExp>> = { '"': /(?:[^"\\\n]|\\.)*/y, "'": /(?:[^'\\\n]|\\.)*/y, '`': /(?:[^`\\]|\\.)*/y };
const LONGEST_CODE = 100_000;

/** A text that a tool runs: a shell command is parsed; code in another language cannot be read for certain. */
export function readCommand(source: string, language: string | undefined): ParsedCommand {
  return language === undefined || SHELLS.has(language) ? parseCommand(source) : codeReading(source, language);
}

/**
 * Reading of code as a command with unknown effects: rules treat it as unreadable. Its string literals count as words, so that
 * denied paths and hosts in it are found; names built at run time are not.
 */
function codeReading(source: string, language: string): ParsedCommand {
  const literals = source.length > LONGEST_CODE ? [] : literalsOf(source).map(word);
  return {
    source,
    fault: `it is ${language} code, and only running it tells what it does`,
    commands: [{ words: [{ value: language, dynamic: true }, ...literals], assignments: [], redirects: [], text: source, inner: false }],
    features: new Set(),
    forkBomb: false,
  };
}

/** Linear: where a quote has no end, those up to there are escaped ones, which have none either. */
function literalsOf(source: string): string[] {
  const found: string[] = [];
  const openUntil: Record<string, number> = {};
  for (let at = source.search(/["'`]/); at < source.length && at !== -1; at++) {
    const quote = source[at] ?? '';
    const inside = Object.hasOwn(LITERALS, quote) ? LITERALS[quote] : undefined;
    if (inside === undefined || at < (openUntil[quote] ?? 0)) continue;
    inside.lastIndex = at + 1;
    const [text = ''] = inside.exec(source) ?? [];
    const end = at + 1 + text.length;
    if (source[end] === quote) {
      found.push(text);
      at = end;
    } else openUntil[quote] = end;
  }
  return found;
}

function word(value: string): ShellWord {
  return { value, dynamic: false };
}
