import JSON5 from 'json5';
import { isExactNumberText } from '#contracts';

/** Repaired form of a model's malformed JSON arguments. */
export interface RepairedJson {
  readonly json: string;
  /** Note for the model and for people: the text was repaired, and its interpretation. */
  readonly warning: string;
}

/**
 * Tokens: comments, in which quotes have no meaning; strings, also without an end; the constants of Python; numbers. Reads each
 * character once. Comments end by the rules of JSON5.
 */
const PIECE =
  /\/\/[^\n\r\u2028\u2029]*|\/\*[^]*?\*\/|"(?:[^"\\]|\\[^])*(?:"|\\?$)|'(?:[^'\\]|\\[^])*(?:'|\\?$)|\b(?:True|False|None)\b|[+-]?\b\d[\d.]*(?:[eE][+-]?\d+)?/g;
const CONSTANTS: Readonly<Record<string, string>> = { True: 'true', False: 'false', None: 'null' };
const CONTROL: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };
const SHOWN_CHARACTERS = 200;

/**
 * Reads an object in almost valid JSON, if it has one meaning: JSON5 (comments, single quotes, names without quotes, trailing
 * commas), line breaks inside strings, constants of Python, a Markdown fence. Of several objects the first counts.
 *
 * Undefined for valid JSON, and for ambiguous text: a truncated text could run half a command. Never throws.
 */
export function repairJson(text: string): RepairedJson | undefined {
  const trimmed = text.trim();
  const source = withoutFence(trimmed);
  if (!source.startsWith('{') || isJson(trimmed)) return undefined;
  try {
    const { value, isFirst } = readObject(source.replace(PIECE, asJson5));
    const json = JSON.stringify(value, refuseInexact);
    const shown = json.length > SHOWN_CHARACTERS ? `${json.slice(0, SHOWN_CHARACTERS)}…` : json;
    return {
      json,
      warning: isFirst
        ? `Warning: the arguments were several JSON objects. Only the first was used: ${shown}`
        : `Warning: the arguments were not valid JSON. They were read as ${shown}`,
    };
  } catch {
    return undefined;
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function withoutFence(text: string): string {
  const begin = text.indexOf('{');
  return text.endsWith('```') && /^```[a-z0-9]*\s*$/i.test(text.slice(0, Math.max(begin, 0))) ? text.slice(begin, -3).trim() : text;
}

/** @throws SyntaxError for a backslash at the end of a line, which commands keep and JSON5 removes */
function asJson5(piece: string): string {
  if (piece.startsWith('/')) return piece;
  if (/^(?:[^\\]|\\[^])*?\\[\n\r\u2028\u2029]/.test(piece)) throw new SyntaxError('a backslash before a line break');
  const number = piece.replace(/^\+/, '');
  if (isExactNumberText(number)) return JSON.stringify(number);
  return CONSTANTS[piece] ?? piece.replaceAll(/[\n\r\t]/g, (character) => CONTROL[character] ?? character);
}

/** @throws SyntaxError if the text does not begin with an object, or if anything but an object follows it */
function readObject(text: string): { value: unknown; isFirst: boolean } {
  try {
    return { value: JSON5.parse<unknown>(text), isFirst: false };
  } catch (error) {
    const end = faultAt(text, error);
    if (text[end] !== '{') throw error;
    return { value: JSON5.parse<unknown>(text.slice(0, end)), isFirst: true };
  }
}

/** Index of a syntax error; lines and columns of the parser begin with 1. */
function faultAt(text: string, error: unknown): number {
  if (!(error instanceof SyntaxError) || !('lineNumber' in error) || !('columnNumber' in error)) return text.length;
  const before = text.split('\n', Number(error.lineNumber) - 1);
  return before.reduce((sum, line) => sum + line.length + 1, 0) + Number(error.columnNumber) - 1;
}

/** Rejects numbers of JSON5 that JSON would write as null, and hexadecimal ones. All other numbers with many digits are already strings. */
function refuseInexact(_name: string, value: unknown): unknown {
  const isExact = typeof value !== 'number' || (Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value)));
  if (!isExact) throw new TypeError(`expected a number that is exact, got ${value}`);
  return value;
}
