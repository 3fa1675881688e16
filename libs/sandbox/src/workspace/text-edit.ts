import { type ToolContext, ToolError } from '#tool-sdk';

export interface Edit {
  readonly old_text: string;
  readonly new_text: string;
  readonly replace_all: boolean;
  /** Takes the first of several occurrences. Without effect on `replace_all`. */
  readonly first_match?: boolean;
}

const SIMILAR_PLACES = 3;
const SHOWN_LINE_CHARACTERS = 200;
const LONE_LINE_FEED = /(?<!\r)\n/;
const LONE_LINE_FEEDS = /(?<!\r)\n/g;

type Shown = Pick<ToolContext, 'redact'>;

/** Pure. Throws a ToolError that helps the model to say what it means: similar lines, or how many places match. */
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
  return { text: pieces.join(new_text), occurrences };
}

/**
 * Models write line feeds. In a file that has Windows line ends only, they mean those: else no edit over several lines
 * would match, and new lines would end unlike all others. Who writes a carriage return in old_text gets what it says.
 */
function inLineEndsOf(text: string, edit: Edit): Pick<Edit, 'old_text' | 'new_text'> {
  if (edit.old_text.includes('\r') || !text.includes('\r\n') || LONE_LINE_FEED.test(text)) return edit;
  const windows = (lines: string) => lines.replaceAll(LONE_LINE_FEEDS, '\r\n');
  return { old_text: windows(edit.old_text), new_text: windows(edit.new_text) };
}

/** Also where the places overlap: "aa" is twice in "aaa", and it is unknown which of them is meant. */
function beginsTwice(text: string, wanted: string): boolean {
  return text.includes(wanted, text.indexOf(wanted) + 1);
}

/** What a text that was not found may have meant: the places that look like it, for the end of a message. */
export function similarText(text: string, wanted: string, ctx: Shown): string {
  if (text.includes('\r\n') && !wanted.includes('\r') && text.replaceAll('\r\n', '\n').includes(wanted)) {
    return ' The file has Windows line ends in part: use \\r\\n for those line breaks in old_text and new_text.';
  }
  const places = similarPlaces(text.split('\n'), wanted.split('\n'), ctx);
  if (places.length === 0) return ' Read the file first: old_text must match exactly, including spaces and line breaks.';
  return `\nDid you mean:\n${places.join('\n')}`;
}

/** The blocks that begin with the first line of `wanted`, when spaces are not looked at. */
function similarPlaces(lines: readonly string[], wanted: readonly string[], { redact }: Shown): string[] {
  const anchor = wanted.findIndex((line) => line.trim() !== '');
  const first = squeeze(wanted[anchor] ?? '');
  if (first === '') return [];
  const found: number[] = [];
  for (let index = 0; index < lines.length && found.length < SIMILAR_PLACES; index += 1) {
    const line = squeeze(lines[index] ?? '');
    if (line === first || (first.length >= 8 && line.includes(first))) found.push(index);
  }
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

function squeeze(line: string): string {
  return line.replaceAll(/\s+/g, '');
}
