import { applyEdit } from '#sandbox';
import { type ToolContext, ToolError } from '#tool-sdk';
import { splitMark } from './byte-order-mark.js';

/** Edit from a model: a replacement, or an insertion. */
export interface EditStep {
  readonly old_text?: string | undefined;
  readonly new_text?: string | undefined;
  readonly replace_all?: boolean | undefined;
  readonly first_match?: boolean | undefined;
  readonly insert_text?: string | undefined;
  readonly insert_line?: number | undefined;
}

export interface EditedText {
  readonly text: string;
  readonly occurrences: number;
  /** Summary for the model. */
  readonly summary: string;
}

/** @throws ToolError for an edit that is neither a replacement nor an insertion, or both */
export function checkStep({ old_text, new_text, insert_text, insert_line }: EditStep, of = ''): void {
  const replaces = old_text !== undefined || new_text !== undefined;
  const inserts = insert_text !== undefined || insert_line !== undefined;
  if (replaces && insert_line !== undefined && insert_text === undefined)
    throw invalid(
      old_text === undefined
        ? `${of}insert_line goes with insert_text: give the lines to insert as insert_text, not as new_text.`
        : `${of}insert_line goes with insert_text: leave it out, or give the lines to insert as insert_text, without old_text and new_text.`,
    );
  if (replaces && inserts) throw invalid(`${of}Give either old_text and new_text, or insert_text, not both.`);
  if (!replaces && !inserts) throw invalid(`${of}Missing 'old_text' parameter: give old_text and new_text, or insert_text.`);
  for (const [name, value] of Object.entries(replaces ? { old_text, new_text } : { insert_text }))
    if (value === undefined) throw invalid(`${of}Missing '${name}' parameter.`);
  if (replaces && old_text === new_text) throw invalid(`${of}No changes (old_text == new_text)`);
}

/** Text after an edit; `text` is without a byte order mark. Pure. @throws ToolError with hints for the model */
export function applyStep(text: string, step: EditStep, path: string, ctx: Pick<ToolContext, 'redact'>): EditedText {
  const { old_text: wanted, new_text, insert_text, insert_line } = step;
  if (wanted === undefined || new_text === undefined) return insert(text, insert_text ?? '', insert_line, path);
  // Models copy the text that they read, which has no byte order mark.
  const old_text = splitMark(wanted).body || wanted;
  const { replace_all = false, first_match = false } = step;
  const edited = applyEdit(text, { old_text, new_text, replace_all, first_match }, path, ctx);
  const summary = replace_all
    ? `Replaced ${edited.occurrences} occurrence(s) in ${path}`
    : `Replaced ${lineCount(old_text)} line(s) with ${lineCount(new_text)} line(s) in ${path}`;
  return { ...edited, summary };
}

/** Whole lines, in the line ends of the file. */
function insert(text: string, inserted: string, line: number | undefined, path: string): EditedText {
  const lineEnd = /\r\n/.test(text) && !/(?<!\r)\n/.test(text) ? '\r\n' : '\n';
  const lines = text === '' ? [] : text.split(/(?<=\n)/);
  if (line !== undefined && line > lines.length)
    throw new ToolError('invalid_arguments', `insert_line ${line} is past the end: ${path} has ${lines.length} lines.`);
  const at = line ?? lines.length;
  const block = (inserted.endsWith('\n') ? inserted : `${inserted}\n`).replaceAll(/\r?\n/g, lineEnd);
  const before = lines.slice(0, at).join('');
  const gap = before === '' || before.endsWith('\n') ? '' : lineEnd;
  const place = line === undefined ? 'at the end of' : `after line ${line} of`;
  return {
    text: before + gap + block + lines.slice(at).join(''),
    occurrences: 1,
    summary: `Inserted ${lineCount(inserted)} line(s) ${place} ${path}`,
  };
}

export function lineCount(text: string): number {
  return text === '' ? 0 : text.replace(/\n$/, '').split('\n').length;
}

function invalid(message: string): ToolError {
  return new ToolError('invalid_arguments', message);
}
