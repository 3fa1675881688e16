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

/** The words of a free text. */
export function queryWords(q: string): string[] {
  return split(q, BASE_WORDS);
}

/** The words of a model's own id; the first ones of a very long one. */
export function toolCallWords(toolCallId: string): string[] {
  return split(toolCallId, TOOL_CALL_WORDS);
}

/**
 * The words by which a call is found. They only grow while the call lives: the message of its error comes last and has
 * room of its own.
 */
export function wordsOf(record: CallRecord): string[] {
  const { id, tool, agentId = '', sessionId = '', toolCallId = '', labels, preview, error } = record;
  const base = [tool, agentId, sessionId, id, ...Object.entries(labels).flat(), preview].join(' ');
  // With room of their own: calls are found by them.
  const words = [shortCallId(id).toLowerCase(), ...toolCallWords(toolCallId), ...split(base, BASE_WORDS)];
  return error === undefined ? words : [...words, ...split(error.message, MESSAGE_WORDS)];
}

/** Does every wanted word begin a word of the call? */
export function hasWords(record: CallRecord, wanted: readonly string[]): boolean {
  const words = wordsOf(record);
  return wanted.every((start) => words.some((word) => word.startsWith(start)));
}
