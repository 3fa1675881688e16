import { type ResolvedFile, changeFile, decodeText, readWorkspaceFile, resolveFile } from '#sandbox';
import { type ToolContext, ToolError, type ToolOutputObject } from '#tool-sdk';
import { changeText } from '../../files/change/change-text.js';
import { type FileDiff, fileDiff } from '../../files/change/file-diff.js';
import { textOutput } from '../text-output.js';

const LIMIT = { bytes: 2 * 1_048_576, hint: 'Use file_edit for larger files.' };
const MOST_FILES = 500;
const SHOWN_LINES = 300;

export interface PlannedChange {
  readonly path: string;
  readonly edits: number;
  /** @throws ToolError where the edits do not fit */
  apply(text: string): string | Promise<string>;
}

interface Target extends PlannedChange {
  readonly place: ResolvedFile;
  readonly before: string;
  readonly after: string;
}

/** Makes all changes or none; a dry run makes none and shows them. Rejects with a ToolError. */
export async function changeFiles(
  planned: readonly PlannedChange[],
  { dryRun, ctx, notes = [] }: { dryRun: boolean; ctx: ToolContext; notes?: readonly string[] },
): Promise<ToolOutputObject> {
  if (planned.length > MOST_FILES)
    throw new ToolError('tool_failed', `${planned.length} files would be changed, more than ${MOST_FILES}; no file was changed.`, {
      retryable: false,
    });
  const targets: Target[] = [];
  for (const change of planned) targets.push(await targetOf(change, ctx));
  const changed = targets.filter(({ before, after }) => before !== after);
  if (!dryRun) await write(changed, ctx);
  const edits = changed.reduce((sum, it) => sum + it.edits, 0);
  const diffs = changed.flatMap((it) => fileDiff(it.place.path.displayPath, it.before, it.after, ctx) ?? []);
  const lines = changed.map(
    (it) => `${dryRun ? 'Would change' : 'Changed'} ${it.place.path.displayPath} (${it.edits} ${it.edits === 1 ? 'edit' : 'edits'})`,
  );
  const shown = dryRun ? [...lines, ...previewOf(diffs)] : lines;
  const all = [...notes, ...(dryRun && changed.length > 0 ? ['dry run: no file was changed; call again with dry_run false'] : [])];
  const text = (shown.join('\n') || 'Nothing to change') + all.map((note) => `\n[${note}]`).join('');
  return textOutput(text, { dryRun, files: changed.length, edits, ...(dryRun ? { preview: diffs } : { diffs }) });
}

async function targetOf(change: PlannedChange, ctx: ToolContext): Promise<Target> {
  const place = resolveFile(ctx.workspace, change.path, 'write');
  const { bytes } = await readWorkspaceFile(place, LIMIT, ctx.signal);
  const before = decodeText(bytes, place.path.displayPath);
  return { ...change, place, before, after: await change.apply(before) };
}

async function write(targets: readonly Target[], ctx: ToolContext): Promise<void> {
  const done: Target[] = [];
  try {
    for (const target of targets) {
      await changeText(ctx, target.place, (text, path) => {
        if (text !== target.before) throw changedMeanwhile(path);
        return { text: target.after, value: undefined };
      });
      done.push(target);
    }
  } catch (error) {
    const kept: string[] = [];
    for (const target of done.reverse()) if (!(await isUndone(target, ctx))) kept.push(target.place.path.displayPath);
    if (kept.length === 0 || ctx.signal.aborted) throw error;
    const [why] = (error instanceof Error ? error.message : String(error)).split('; no file was changed');
    const message = `${why}. The change of ${kept.join(', ')} could not be taken back, since what is there was changed again: look at it before you go on.`;
    throw new ToolError('tool_failed', message, { retryable: false, cause: error });
  }
}

/** False where the file is not as this change left it, or cannot be written. */
async function isUndone({ place, before, after }: Target, ctx: ToolContext): Promise<boolean> {
  const unsignalled = { signal: new AbortController().signal };
  const { displayPath } = place.path;
  try {
    await changeFile(unsignalled, place, { create: false }, async (_stats, read) => {
      if (decodeText(await read(LIMIT), displayPath) !== after) throw changedMeanwhile(displayPath);
      return { bytes: Buffer.from(before, 'utf8'), value: undefined };
    });
    return true;
  } catch (error) {
    ctx.log.warn('a change of several files was not undone', { path: displayPath, why: String(error) });
    return false;
  }
}

/** The text is another one than that for which the edits were made. */
export function changedMeanwhile(path: string): ToolError {
  return new ToolError('tool_failed', `${path} was changed meanwhile; no file was changed. Try again.`);
}

function previewOf(diffs: readonly FileDiff[]): string[] {
  const lines = diffs.flatMap(({ path, hunks }) => [`--- ${path}`, ...hunks.flatMap((hunk) => [`@@ ${hunk.oldStart} @@`, ...hunk.lines])]);
  return lines.length > SHOWN_LINES ? [...lines.slice(0, SHOWN_LINES), `... ${lines.length - SHOWN_LINES} more lines`] : lines;
}
