import { charSet, runEnd } from './char-set.js';
import type { MatchResult } from './secret-match.js';

export const TOKEN_CHARS = charSet(/[A-Za-z0-9+/_-]/);
const [SHORTEST, LONGEST, PADDING] = [24, 512, 2];
const BITS_A_CHARACTER = 3.8;
const DISTINCT = 8;
const HEX = /^[0-9a-fA-F-]+$/;
const NOTE_ID = /^note-[0-9a-fA-F-]{36}$/;

/**
 * A token that looks random: 24 to 512 characters, at least 8 different ones, 3.8 bits of entropy a character (Shannon).
 * Hexadecimal digits are no such token, with or without dashes: digests, commits, UUIDs. Looked at from its first character.
 */
export function randomToken(text: string, start: number, final: boolean): MatchResult {
  const limit = Math.min(text.length, start + LONGEST + 1);
  let end = runEnd(text, start, limit, TOKEN_CHARS);
  if (end - start > LONGEST) return undefined;
  while (end < text.length && end - start < LONGEST + PADDING && text[end] === '=') end += 1;
  if (end === text.length && !final) return { partialFrom: start };
  const token = text.slice(start, end);
  return looksRandom(token) ? { start, end } : undefined;
}

export function looksRandom(token: string): boolean {
  if (token.length < SHORTEST || token.length > LONGEST || HEX.test(token) || NOTE_ID.test(token)) return false;
  if (!/[A-Za-z]/.test(token) || !/[\d+/=_-]/.test(token)) return false;
  const counts = new Map<string, number>();
  for (const character of token) counts.set(character, (counts.get(character) ?? 0) + 1);
  if (counts.size < DISTINCT) return false;
  let bits = 0;
  for (const count of counts.values()) bits -= (count / token.length) * Math.log2(count / token.length);
  return bits >= BITS_A_CHARACTER;
}
