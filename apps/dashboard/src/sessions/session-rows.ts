import { shownState, type CallRow } from '../calls/call-row.js';
import type { ShownState } from '../components/theme.js';
import type { Branch } from '../calls/session-tree.js';

export interface TimelineMessage {
  readonly id: string;
  readonly message: string;
  readonly from: string;
  /** The person, where one had signed in. */
  readonly fromName?: string | undefined;
  readonly at: string;
  readonly taken: boolean;
}

export type SessionRow =
  | { readonly kind: 'call'; readonly key: string; readonly branch: Branch }
  | {
      readonly kind: 'batch';
      readonly key: string;
      readonly batchId: string;
      readonly calls: readonly CallRow[];
      readonly isFolded: boolean;
    }
  | { readonly kind: 'message'; readonly key: string; readonly message: TimelineMessage };

/** A call at the top level with all below it. */
type Chunk = readonly [Branch, ...Branch[]];

/**
 * Rows of a session: calls of one batch below its own row, which folds them, and messages of people between them. A batch of one
 * call has no row.
 */
export function sessionRows(
  branches: readonly Branch[],
  messages: readonly TimelineMessage[],
  isFolded: (batchId: string) => boolean,
): SessionRow[] {
  const rows: SessionRow[] = [];
  const said = messages.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at));
  let next = 0;
  const sayUntil = (at: number) => {
    for (let message = said[next]; message && Date.parse(message.at) <= at; message = said[++next])
      rows.push({ kind: 'message', key: `message ${message.id}`, message });
  };
  for (const chunks of inBatches(chunksOf(branches))) {
    const [[first]] = chunks;
    sayUntil(first.row.submittedAt);
    const { batchId } = first.row;
    const isBatch = batchId !== undefined && chunks.length > 1;
    const isClosed = isBatch && isFolded(batchId);
    if (isBatch) rows.push({ kind: 'batch', key: `batch ${batchId}`, batchId, calls: chunks.map(([{ row }]) => row), isFolded: isClosed });
    if (isClosed) continue;
    for (const { row, depth } of chunks.flat()) {
      rows.push({ kind: 'call', key: row.id, branch: { row, depth: isBatch ? depth + 1 : depth } });
    }
  }
  sayUntil(Number.POSITIVE_INFINITY);
  return rows;
}

function chunksOf(branches: readonly Branch[]): Chunk[] {
  const chunks: [Branch, ...Branch[]][] = [];
  for (const branch of branches) {
    const last = chunks.at(-1);
    if (branch.depth === 0 || last === undefined) chunks.push([branch]);
    else last.push(branch);
  }
  return chunks;
}

/** Chunks of one batch together, at the place of the first; every other chunk alone. */
function inBatches(chunks: readonly Chunk[]): [Chunk, ...Chunk[]][] {
  const groups: [Chunk, ...Chunk[]][] = [];
  const batches = new Map<string, [Chunk, ...Chunk[]]>();
  for (const chunk of chunks) {
    const { batchId } = chunk[0].row;
    const known = batchId === undefined ? undefined : batches.get(batchId);
    if (known) {
      known.push(chunk);
      continue;
    }
    const group: [Chunk, ...Chunk[]] = [chunk];
    groups.push(group);
    if (batchId !== undefined) batches.set(batchId, group);
  }
  return groups;
}

/** Mark of a row in the minimap; undefined for a success. */
export function markOf(row: SessionRow): 'failed' | 'waiting' | 'running' | 'message' | undefined {
  if (row.kind === 'message') return 'message';
  const marks = (row.kind === 'call' ? [row.branch.row] : row.calls).map((call) => MARKS[shownState(call)]);
  return ORDER.find((mark) => marks.includes(mark));
}

const ORDER = ['failed', 'waiting', 'running'] as const;
const MARKS: Readonly<Partial<Record<ShownState, (typeof ORDER)[number]>>> = {
  failed: 'failed',
  error: 'failed',
  denied: 'failed',
  timed_out: 'failed',
  unknown: 'failed',
  waiting_approval: 'waiting',
  waiting_input: 'waiting',
  running: 'running',
};
