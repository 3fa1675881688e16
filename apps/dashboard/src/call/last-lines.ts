import type { Lines } from './log/terminal-text.js';

/** Last line about the end of a command, which the page shows elsewhere. */
const EXIT = /^(?:Exit code: -?\d+|Signal: SIG[A-Z0-9]+)$/;

/**
 * The last lines, without empty ones, of what a command wrote: of its standard error if it wrote any, else of its output. Texts of
 * other tools have no such parts.
 */
export function lastLines(lines: Lines, most: number): string[] {
  const last: string[] = [];
  for (let index = lines.length - 1; index >= 0 && last.length < most; index -= 1) {
    const text = lines.text(index);
    const isTitle = text === 'stderr:' && index > 0 && lines.text(index - 1) === '' && lines.text(0) === 'stdout:';
    if (isTitle && last.length > 0) break;
    if (text.trim() !== '' && !(last.length === 0 && EXIT.test(text))) last.unshift(text);
  }
  return last;
}
