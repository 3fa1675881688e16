import { RE2JS } from 're2js';

/** A pattern of configuration or of a grant as a test of a whole text; undefined when it is no regular expression of RE2. */
export type TextTest = (text: string) => boolean;

const MOST_REMEMBERED = 2_000;
const compiled = new Map<string, TextTest | undefined>();

/**
 * Compiles a pattern of commands once and remembers it. It must match the whole sub-command, and its time grows linearly
 * with the text whatever the pattern says: patterns come from configuration, texts from models.
 */
export function commandPattern(pattern: string): TextTest | undefined {
  if (compiled.has(pattern)) return compiled.get(pattern);
  if (compiled.size >= MOST_REMEMBERED) compiled.clear();
  const test = compile(pattern);
  compiled.set(pattern, test);
  return test;
}

/** The pattern that matches exactly `text`. */
export function literally(text: string): string {
  return RE2JS.quote(text);
}

function compile(pattern: string): TextTest | undefined {
  try {
    const expression = RE2JS.compile(pattern);
    return (text) => expression.testExact(text);
  } catch {
    return undefined;
  }
}
