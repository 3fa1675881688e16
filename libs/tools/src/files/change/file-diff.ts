import { structuredPatch } from 'diff';
import type { ToolContext } from '#tool-sdk';

/** Change of a file by a call, for people and programs. */
export interface FileDiff {
  readonly path: string;
  readonly added: number;
  readonly removed: number;
  /** Hunks in the form of unified diffs: each line begins with a space, `+`, `-` or `\`. Line numbers begin at 1. */
  readonly hunks: readonly Hunk[];
  /** True if `hunks` is incomplete. */
  readonly truncated: boolean;
}

interface Hunk {
  readonly oldStart: number;
  readonly oldLines: number;
  readonly newStart: number;
  readonly newLines: number;
  readonly lines: readonly string[];
}

const CONTEXT_LINES = 3;
/** Comparing two texts takes time that grows with their difference: larger ones are not compared. */
const MOST_CHARACTERS = 1_000_000;
const MOST_EDITS = 500;
const SHOWN_CHARACTERS = 24_000;
const SHOWN_LINE_CHARACTERS = 500;

/** Undefined where the texts are too large or too different to compare. */
export function fileDiff(path: string, before: string, after: string, { redact }: Pick<ToolContext, 'redact'>): FileDiff | undefined {
  if (before.length + after.length > MOST_CHARACTERS) return undefined;
  const patch = structuredPatch(path, path, before, after, undefined, undefined, {
    context: CONTEXT_LINES,
    maxEditLength: MOST_EDITS,
  });
  if (patch === undefined) return undefined;
  const lines = patch.hunks.flatMap((hunk) => hunk.lines);
  const hunks: Hunk[] = [];
  let characters = 0;
  for (const { oldStart, oldLines, newStart, newLines, ...hunk } of patch.hunks) {
    const shown = hunk.lines.map((line) => shownLine(line, redact));
    characters += shown.join('').length;
    if (characters > SHOWN_CHARACTERS) break;
    hunks.push({ oldStart, oldLines, newStart, newLines, lines: shown });
  }
  const count = (mark: string): number => lines.filter((line) => line.startsWith(mark)).length;
  return { path, added: count('+'), removed: count('-'), hunks, truncated: hunks.length < patch.hunks.length };
}

/** All lines of a new file as added ones; of a long file its first lines. */
export function createdDiff(path: string, content: string, { redact }: Pick<ToolContext, 'redact'>): FileDiff {
  const lines = content.split('\n');
  const endsWithLineEnd = lines.at(-1) === '';
  if (endsWithLineEnd) lines.pop();
  const shown: string[] = [];
  let characters = 0;
  for (const line of lines) {
    characters += 1 + Math.min(line.length, SHOWN_LINE_CHARACTERS);
    if (characters > SHOWN_CHARACTERS) break;
    shown.push(line);
  }
  const truncated = shown.length < lines.length;
  const added = (truncated ? redact(shown.join('\n'), true).split('\n') : shown).map((line) => shownLine(`+${line}`, redact));
  const end = truncated || endsWithLineEnd ? [] : ['\\ No newline at end of file'];
  const hunk = { oldStart: 0, oldLines: 0, newStart: 1, newLines: added.length, lines: [...added, ...end] };
  return { path, added: lines.length, removed: 0, hunks: added.length === 0 ? [] : [hunk], truncated };
}

function shownLine(line: string, redact: ToolContext['redact']): string {
  return line.length > SHOWN_LINE_CHARACTERS ? `${redact(line.slice(0, SHOWN_LINE_CHARACTERS), true)}…` : line;
}
