import { closestNames, type ToolContext, ToolError } from '#tool-sdk';
import { invisibleDifference } from './invisible-difference.js';

export interface Edit {
  readonly old_text: string;
  readonly new_text: string;
  readonly replace_all: boolean;
  /** Takes the first of several occurrences. Without effect on `replace_all`. */
  readonly first_match?: boolean;
}

/** Characters of the text that an edit makes: a few replacements everywhere, each of what the last one made, outgrow any memory. */
const MOST_CHARACTERS = 10 * 1_048_576;
const SIMILAR_PLACES = 3;
const SHOWN_LINE_CHARACTERS = 200;
/** A shorter line looks like many others. */
const LEAST_NEAR_CHARACTERS = 8;
/** Lines that are compared letter by letter: some microseconds each. */
const MOST_NEAR_LINES = 20_000;
const LONE_LINE_FEED = /(?<!\r)\n/;
const LONE_LINE_FEEDS = /(?<!\r)\n/g;

type Shown = Pick<ToolContext, 'redact'>;

/** Pure. Throws a ToolError with hints for the model: similar lines, or the number of matching places. */
export function applyEdit(text: string, edit: Edit, path: string, ctx: Shown): { text: string; occurrences: number } {
  const { old_text, new_text } = inLineEndsOf(text, edit);
  // Split, not replace: "$&" in new_text is plain text.
  const pieces = text.split(old_text);
  const occurrences = pieces.length === 2 && !edit.replace_all && beginsTwice(text, old_text) ? 2 : pieces.length - 1;
  if (occurrences === 0) throw new ToolError('tool_failed', `old_text not found in ${path}.${similarText(text, edit.old_text, ctx)}`);
  if (edit.first_match === true && !edit.replace_all) {
    const [before = '', ...after] = pieces;
    return { text: before + new_text + after.join(old_text), occurrences: 1 };
  }
  if (occurrences > 1 && !edit.replace_all) {
    throw new ToolError(
      'tool_failed',
      `old_text matches ${occurrences} locations in ${path}. Include more surrounding context to make the match unique, or set replace_all.`,
    );
  }
  const length = text.length + occurrences * (new_text.length - old_text.length);
  if (length > MOST_CHARACTERS && length > text.length)
    throw new ToolError(
      'tool_failed',
      `Replacing ${occurrences} places would make ${path} ${length} characters long; expected at most ${MOST_CHARACTERS}. Make smaller changes, or write the file with a command.`,
      { retryable: false },
    );
  return { text: pieces.join(new_text), occurrences };
}

/**
 * Edit with the line ends of the file: models write line feeds, also for files with Windows line ends only. Otherwise no edit
 * over several lines would match, and new lines would end unlike all others. A carriage return in old_text is kept.
 */
function inLineEndsOf(text: string, edit: Edit): Pick<Edit, 'old_text' | 'new_text'> {
  if (edit.old_text.includes('\r') || !text.includes('\r\n') || LONE_LINE_FEED.test(text)) return edit;
  const windows = (lines: string) => lines.replaceAll(LONE_LINE_FEEDS, '\r\n');
  return { old_text: windows(edit.old_text), new_text: windows(edit.new_text) };
}

/** True if the text occurs twice, also overlapping: "aa" is twice in "aaa", and either one may be meant. */
function beginsTwice(text: string, wanted: string): boolean {
  return text.includes(wanted, text.indexOf(wanted) + 1);
}

/** Places similar to a text that was not found, for the end of a message. `what` names the source of the wanted text. */
export function similarText(text: string, wanted: string, ctx: Shown, what = 'old_text'): string {
  if (text.includes('\r\n') && !wanted.includes('\r') && text.replaceAll('\r\n', '\n').includes(wanted)) {
    return ` The file has Windows line ends in part: use \\r\\n for those line breaks in ${what === 'old_text' ? 'old_text and new_text' : what}.`;
  }
  const difference = invisibleDifference(text, wanted, what);
  if (difference !== undefined) return ` ${difference}`;
  const places = similarPlaces(text.split('\n'), wanted.split('\n'), ctx);
  if (places.length === 0)
    return ` Read the file first: ${what === 'old_text' ? what : 'context and removed lines'} must match exactly, including spaces and line breaks.`;
  return `\nDid you mean:\n${places.join('\n')}`;
}

/** The blocks that begin with the first line of `wanted`, when spaces are not looked at; without one, the line that is nearest to it. */
function similarPlaces(lines: readonly string[], wanted: readonly string[], { redact }: Shown): string[] {
  const anchor = wanted.findIndex((line) => line.trim() !== '');
  const first = squeeze(wanted[anchor] ?? '');
  if (first === '') return [];
  const found: number[] = [];
  for (let index = 0; index < lines.length && found.length < SIMILAR_PLACES; index += 1) {
    const line = squeeze(lines[index] ?? '');
    if (line === first || (first.length >= LEAST_NEAR_CHARACTERS && line.includes(first))) found.push(index);
  }
  if (found.length === 0) found.push(...nearestLine(lines, first));
  return found.map((start) =>
    lines
      .slice(start, start + Math.min(wanted.length - anchor, 5))
      .map(
        (line, offset) =>
          `${String(start + offset + 1).padStart(4)} | ${line.length > SHOWN_LINE_CHARACTERS ? redact(line.slice(0, SHOWN_LINE_CHARACTERS), true) : line}`,
      )
      .join('\n'),
  );
}

/** The first of the lines that is a few typing errors away, if there is one. */
function nearestLine(lines: readonly string[], first: string): number[] {
  if (first.length < LEAST_NEAR_CHARACTERS) return [];
  const places = new Map<string, number>();
  lines.slice(0, MOST_NEAR_LINES).forEach((text, index) => {
    const line = squeeze(text);
    if (line.length * 3 >= first.length * 2 && line.length * 2 <= first.length * 3 && !places.has(line)) places.set(line, index);
  });
  return closestNames(first, places.keys(), 1).flatMap((line) => places.get(line) ?? []);
}

function squeeze(line: string): string {
  return line.replaceAll(/\s+/g, '');
}
