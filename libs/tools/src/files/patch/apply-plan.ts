import { changeFile, removeEntry } from '#sandbox';
import { type ToolContext, ToolError } from '#tool-sdk';
import { type FileDiff, fileDiff } from '../change/file-diff.js';
import { vacatedBy } from './file-change.js';
import { changesMode, type FoundFile, PATCH_LIMIT, type PlannedChange, thereAlready } from './patch-plan.js';

export interface AppliedChange {
  /** Summary for the model. */
  readonly summary: string;
  readonly diff?: FileDiff;
}

/** Completed step, with its reversal. */
interface Step {
  readonly path: string;
  undo(ctx: Pick<ToolContext, 'signal'>): Promise<unknown>;
}

/** Makes all changes or none. Rejects with a ToolError that lists the changes that could not be reverted. */
export async function applyPlan(plan: readonly PlannedChange[], ctx: ToolContext): Promise<AppliedChange[]> {
  const steps: Step[] = [];
  const { chains, circles } = inOrder(plan);
  try {
    for (const planned of chains) await apply(planned, ctx, steps, false);
    // No file of a circle of renames can be written before another one is removed.
    for (const { found } of circles) await remove(found, ctx, steps);
    for (const planned of circles) await apply(planned, ctx, steps, true);
  } catch (error) {
    const kept = await undone(steps, ctx);
    if (kept.length === 0) throw error;
    const why = (error instanceof Error ? error.message : String(error)).replace(/; no file was changed(?=\.)/, '');
    const message = `${why} The change of ${kept.join(', ')} could not be taken back: look at it before you go on.`;
    throw new ToolError('tool_failed', message, { retryable: false, cause: error });
  }
  return plan.map((planned) => appliedOf(planned, ctx));
}

/** Changes in an order in which each name is free when it is written, and those for which there is none: renames in a circle. */
function inOrder(plan: readonly PlannedChange[]): {
  readonly chains: readonly PlannedChange[];
  readonly circles: readonly PlannedChange[];
} {
  const chains: PlannedChange[] = [];
  let left = plan;
  for (;;) {
    const vacated = new Set(left.map(({ change }) => vacatedBy(change)));
    const isFree = ({ change }: PlannedChange) =>
      change.kind === 'delete' || !vacated.has(change.path) || vacatedBy(change) === change.path;
    const free = left.filter(isFree);
    if (free.length === 0) return { chains, circles: left };
    chains.push(...free);
    left = left.filter((it) => !isFree(it));
  }
}

/** Takes the steps back, the last one first. Returns the paths for which that failed. */
async function undone(steps: readonly Step[], { log }: ToolContext): Promise<string[]> {
  const kept: string[] = [];
  const unsignalled = { signal: new AbortController().signal };
  for (const step of steps.toReversed()) {
    try {
      await step.undo(unsignalled);
    } catch (error) {
      log.warn('a patch was not undone', { path: step.path, why: String(error) });
      kept.push(step.path);
    }
  }
  return kept;
}

async function apply({ change, place, found, after }: PlannedChange, ctx: ToolContext, steps: Step[], isRemoved: boolean): Promise<void> {
  const { kind, executable } = change;
  const left = isRemoved ? undefined : found;
  if (kind === 'delete') return remove(left, ctx, steps);
  const bytes = Buffer.from(after, 'utf8');
  const isNew = kind !== 'change';
  const { path } = change;
  await changeFile(ctx, place, { create: isNew }, async (stats, read) => {
    if (isNew && stats !== undefined) throw thereAlready(path);
    if (!isNew && (stats === undefined || !(await read(PATCH_LIMIT)).equals(found?.bytes ?? Buffer.of()))) throw changedMeanwhile(path);
    const mode = isNew ? found?.stats.mode : undefined;
    return { bytes, value: undefined, ...(mode !== undefined && { mode }), ...(executable !== undefined && { executable }) };
  });
  steps.push({ path, undo: (by) => (isNew || found === undefined ? removeEntry(by, place) : restore(found, bytes, by)) });
  if (kind === 'rename') await remove(left, ctx, steps);
}

/** Removes a file, which stays unchanged until then. */
async function remove(found: FoundFile | undefined, ctx: ToolContext, steps: Step[]): Promise<void> {
  if (found === undefined) return;
  const path = found.place.path.displayPath;
  await changeFile(ctx, found.place, { create: false }, async (stats, read) => {
    if (stats === undefined || !(await read(PATCH_LIMIT)).equals(found.bytes)) throw changedMeanwhile(path);
    return { bytes: found.bytes, value: undefined };
  });
  await removeEntry(ctx, found.place);
  steps.push({ path, undo: (by) => restore(found, undefined, by) });
}

/** Restores a file. `after`: expected current content; undefined if the file must not exist. */
function restore({ place, bytes, stats }: FoundFile, after: Buffer | undefined, ctx: Pick<ToolContext, 'signal'>): Promise<unknown> {
  return changeFile(ctx, place, { create: after === undefined }, async (there, read) => {
    const isAsLeft = after === undefined ? there === undefined : there !== undefined && (await read(PATCH_LIMIT)).equals(after);
    if (!isAsLeft) throw changedMeanwhile(place.path.displayPath);
    return { bytes, value: undefined, mode: stats.mode };
  });
}

function changedMeanwhile(path: string): ToolError {
  return new ToolError('tool_failed', `${path} was changed meanwhile; no file was changed. Try again.`);
}

function appliedOf(planned: PlannedChange, ctx: ToolContext): AppliedChange {
  const { change, place, found, after } = planned;
  const diff = fileDiff(place.path.displayPath, change.kind === 'copy' ? after : (found?.text ?? ''), after, ctx);
  const summary = [summaryOf(planned), ...(change.note === undefined ? [] : [`(${change.note})`])].join(' ');
  return { summary, ...(diff !== undefined && { diff }) };
}

function summaryOf({ change, place, found, after }: PlannedChange): string {
  const { displayPath } = place.path;
  const executable = found !== undefined && changesMode(change, found.stats) ? `${change.executable === true ? '' : 'not '}executable` : '';
  const made = executable === '' ? '' : `, now ${executable}`;
  const from = found?.place.path.displayPath ?? '';
  switch (change.kind) {
    case 'create':
      return `Created ${displayPath}`;
    case 'delete':
      return `Deleted ${displayPath}`;
    case 'change':
      return found?.text === after ? `Made ${displayPath} ${executable}` : `Changed ${displayPath}${made}`;
    case 'rename':
    case 'copy':
      return `${change.kind === 'rename' ? 'Renamed' : 'Copied'} ${from} to ${displayPath}${found?.text === after ? '' : ', and changed it'}${made}`;
    default:
      return change.kind satisfies never;
  }
}
