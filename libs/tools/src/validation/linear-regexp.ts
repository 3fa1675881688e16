import { RE2JS } from 're2js';

/** What ajv calls on a compiled pattern. */
interface Matcher {
  test(text: string): boolean;
  /** ajv keeps compiled patterns by this text: without it, all patterns would be the first one. */
  toString(): string;
}

/**
 * A pattern of a schema as a matcher whose time grows linearly with the text, whatever the pattern: schemas of remote
 * sources are not trusted, and arguments come from models. Throws on what RE2 cannot say (look-around, back-references).
 */
export function linearRegExp(pattern: string): Matcher {
  const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern));
  return { test: (text) => compiled.matcher(text).find(), toString: () => pattern };
}

/** ajv asks for the source text of its engine, and needs it only for stand-alone code, which nobody makes. */
linearRegExp.code = 'linearRegExp';
