import type { Result } from '#contracts';
import type { HookFeedback } from './attempt-result.js';

const NOTE_CHARS = 80;

/**
 * Why a result is an error, in a few words: how the program ended (`exit 1`, `signal SIGSEGV`), what a hook had against
 * it, or the first line of its text. At most 80 characters; undefined for a result without text.
 */
export function noteOf(result: Result, feedback?: HookFeedback): string | undefined {
  if (!result.isError) return firstLine(feedback?.text?.split('\n').slice(1).join('\n'));
  const { exitCode, signal } = result.details ?? {};
  if (typeof signal === 'string') return firstLine(`signal ${signal}`);
  if (typeof exitCode === 'number' && exitCode !== 0) return `exit ${exitCode}`;
  return firstLine(result.content.find((item) => item.type === 'text')?.text);
}

function firstLine(text = ''): string | undefined {
  const line = text.trimStart().split('\n', 1)[0]?.trim() ?? '';
  if (line.length <= NOTE_CHARS) return line === '' ? undefined : line;
  return `${line.slice(0, NOTE_CHARS - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
