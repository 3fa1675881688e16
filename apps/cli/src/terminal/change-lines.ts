import type { Call, FileChange } from '#contracts';
import { fileChanges, hunkHeader } from '#subject';
import type { Terminal } from './terminal.js';
import { inLine } from './visible-text.js';

/** Most lines of all files together. */
const MOST_LINES = 200;
/** Longest shown line, such as one of a minified file. */
const MOST_CHARACTERS = 1_000;

/** Changes of a call in files as lines of a terminal: the first lines of coloured unified diffs. */
export function changeLines({ id, result }: Pick<Call, 'id' | 'result'>, terminal: Terminal): string[] {
  const lines = fileChanges(result?.details).flatMap((change) => linesOf(change, terminal));
  const left = lines.length - MOST_LINES;
  if (left <= 0) return lines;
  const more = `… ${left} more line${left === 1 ? '' : 's'}. All of them: toolyard show ${id} --json`;
  return [...lines.slice(0, MOST_LINES), terminal.colour('dim', more)];
}

function linesOf({ path, added, removed, hunks, truncated }: FileChange, terminal: Terminal): string[] {
  if (hunks.length === 0 && !truncated) return [];
  const counts = `${terminal.colour('green', `+${added}`)} ${terminal.colour('red', `-${removed}`)}`;
  return [
    `${terminal.colour('bold', inLine(terminal.visible(path)))} ${counts}`,
    ...hunks.flatMap((hunk) => [terminal.colour('dim', hunkHeader(hunk)), ...hunk.lines.map((line) => changedLine(line, terminal))]),
    ...(truncated ? [terminal.colour('dim', '… the tool left out the rest of this change')] : []),
  ];
}

/** Coloured line by its first character, whereas `patchLine` of arguments has to guess: `--- x` may be a removed line. */
function changedLine(line: string, terminal: Terminal): string {
  const text = line.replace(/\r$/, '');
  const shown = inLine(terminal.visible(text.slice(0, MOST_CHARACTERS))) + (text.length > MOST_CHARACTERS ? '…' : '');
  if (line.startsWith('+')) return terminal.colour('green', shown);
  if (line.startsWith('-')) return terminal.colour('red', shown);
  return line.startsWith('\\') ? terminal.colour('dim', shown) : shown;
}
