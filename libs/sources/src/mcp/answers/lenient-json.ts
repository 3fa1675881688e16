/** More is not repaired: each character takes time that other calls wait for. */
const MAX_CHARACTERS = 262_144;
const MESSAGE = /\{\s*"jsonrpc"/;
/** Strings, also without an end; numbers that JSON lacks; commas before a bracket. Reads each character once. */
const PIECE = /"[^"\\]*(?:\\[^][^"\\]*)*(?:"|\\?$)|-?\b(?:NaN|Infinity)\b|,(?=\s*[}\]])/g;
/** A string without any of these stays. */
const ODD = /\\(?:[^"\\/bfnrtu]|u(?![\da-f]{4}))|[^ -\uffff]/i;
/** Escapes and control characters. */
const CHARACTER = /\\x([\da-f]{2})|\\u[\da-f]{4}|\\([^])|[^ -\uffff]/gi;
const CONTROLS = Array.from({ length: 32 }, (_, code) => JSON.stringify(String.fromCodePoint(code)).slice(1, -1));

/** JSON text of a server and its value. */
export interface ReadJson {
  readonly json: string;
  readonly value: unknown;
  /** True if another text was before it. */
  readonly isCut: boolean;
}

/**
 * Reads a message that its server may have written by hand or into a log: without the text before its first field, and with
 * raw control characters, escapes of other languages, NaN (read as null) and commas at the end. Digits stay as they are.
 * `beforeRepair`: called for a text that is repaired, with its length. @throws SyntaxError for anything else
 */
export function readJson(text: string, beforeRepair: (characters: number) => void = () => {}): ReadJson {
  try {
    return { json: text, value: JSON.parse(text), isCut: false };
  } catch (error) {
    const begin = text.search(MESSAGE);
    if (text.length > MAX_CHARACTERS || (begin === -1 && !/^\s*[{[]/.test(text))) throw error;
    beforeRepair(text.length);
    const whole = repairedJson(text);
    if (begin < 1 || isJson(whole)) return { json: whole, value: JSON.parse(whole), isCut: false };
    const json = repairedJson(text.slice(begin));
    return { json, value: JSON.parse(json), isCut: true };
  }
}

export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const repairedJson = (text: string): string => text.replace(PIECE, repaired);

function repaired(piece: string): string {
  if (piece.startsWith(',')) return '';
  if (!piece.startsWith('"')) return 'null';
  return ODD.test(piece) ? piece.replace(CHARACTER, escaped) : piece;
}

function escaped(character: string, hex: string | undefined, after: string | undefined): string {
  if (hex !== undefined) return `\\u00${hex}`;
  if (after === undefined) return character.startsWith('\\') ? character : inJson(character);
  if ('"\\/bfnrt'.includes(after)) return character;
  return after === "'" ? after : `\\\\${inJson(after)}`;
}

const inJson = (character: string): string => CONTROLS[character.charCodeAt(0)] ?? character;
