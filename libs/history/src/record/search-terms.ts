import { shortCallId } from '#contracts';
import type { CallRecord } from './call-record.js';

const WORD_CHARS = 32;
const BASE_WORDS = 48;
const MESSAGE_WORDS = 24;
const TOOL_CALL_WORDS = 16;

/** Runs of letters and digits in lower case, in order, each once, at most `limit`. */
function split(text: string, limit: number): string[] {
  const words = new Set<string>();
  for (const [word] of text.toLowerCase().matchAll(/[\p{L}\p{N}]+/gu)) {
    words.add(word.slice(0, WORD_CHARS));
    if (words.size >= limit) break;
  }
  return [...words];
}

/** Words of a free text. */
export function queryWords(q: string): string[] {
  return split(q, BASE_WORDS);
}

/** Words of a model's own id; only the first of a very long one. */
export function toolCallWords(toolCallId: string): string[] {
  return split(toolCallId, TOOL_CALL_WORDS);
}

/**
 * Words by which a call is found. The list only grows during the life of the call: the words of its error message come last,
 * with a limit of their own.
 */
export function wordsOf(record: CallRecord): string[] {
  const { id, tool, agentId = '', sessionId = '', toolCallId = '', labels, preview, error } = record;
  const base = [tool, agentId, sessionId, id, ...Object.entries(labels).flat(), preview].join(' ');
  // Ids have limits of their own, since calls are found by them.
  const words = [shortCallId(id).toLowerCase(), ...toolCallWords(toolCallId), ...split(base, BASE_WORDS)];
  return error === undefined ? words : [...words, ...split(error.message, MESSAGE_WORDS)];
}

/** True if every wanted word is the beginning of a word of the call. */
export function hasWords(record: CallRecord, wanted: readonly string[]): boolean {
  const words = wordsOf(record);
  return wanted.every((start) => words.some((word) => word.startsWith(start)));
}
