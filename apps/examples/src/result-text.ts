import type { BatchResult } from '#contracts';

/** Text of one call for the model: its result, or the reason why there is none. */
export function resultText({ result, error, status }: BatchResult): string {
  if (result === undefined) return error?.message ?? `not run (${status})`;
  return result.content.map((part) => (part.type === 'text' ? part.text : JSON.stringify(part))).join('\n');
}
