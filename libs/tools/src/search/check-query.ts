import { PatternError, syntaxFault } from '#patterns';
import { ToolError } from '#tool-sdk';

/**
 * Errors in the syntax of both ripgrep and RE2, the only ones known without running ripgrep: each of the two accepts some
 * patterns that the other rejects, and those are left to the search itself.
 */
const SURELY_WRONG =
  /missing closing [)\]]|unexpected \)|missing argument to repetition operator|trailing backslash|Perl syntax: `\(\?[=!]|named capture: `\(\?<[=!]|escape sequence: `\\[1-9]`/;
const NOT_THERE = /`\(\?<?[=!]|`\\[1-9]`/;

/** Throws a ToolError for a text or regular expression that no search could run. */
export function checkQuery(query: string, literal: boolean): void {
  if (query.includes('\0')) throw new ToolError('invalid_arguments', 'Invalid query: it has a NUL character in it.');
  if (literal) return;
  const fault = faultOf(query);
  if (fault === undefined || !SURELY_WRONG.test(fault)) return;
  const hint = NOT_THERE.test(fault) ? 'look-around and back-references are not available' : 'with literal, query is taken as plain text';
  throw new ToolError('invalid_arguments', `The regular expression is not valid: ${fault.slice(0, 300)}; ${hint}.`);
}

/** @throws ToolError for one that is too large to be run at all */
function faultOf(query: string): string | undefined {
  try {
    return syntaxFault(query);
  } catch (error) {
    if (error instanceof PatternError) throw new ToolError('invalid_arguments', `The regular expression is too large: ${error.message}.`);
    throw error;
  }
}
