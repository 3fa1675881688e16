import { createHash } from 'node:crypto';
import { MemoryFailure } from '../memory-failure.js';
import type { MemoryStorage, WaitingScope } from '../storage.js';
import { insertItem, prepareChunks, shrinkage, storableText } from '../write/items.js';
import type { MemoryScope, ScopedTables } from '../write/scoped-tables.js';
import { countUsage } from '../write/usage.js';
import { findContext, removeDocuments } from './knowledge-rows.js';

export interface Document {
  readonly path: string;
  readonly text: string;
}

export interface IndexRequest {
  /** Id chosen by the caller. A repeated operation starts from the beginning, unless it was complete. */
  readonly operationId: string;
  readonly contextId: string;
  readonly name: string;
  /** Source path; empty for a text. */
  readonly path: string;
  /** `add`: requires a new name. `update`: requires an existing context, which is replaced at the end. */
  readonly mode: 'add' | 'update';
  readonly total: number;
  readonly documents: AsyncIterable<Document>;
  /** Reason of an error of `documents`, for the user; undefined for an internal one. */
  readonly reasonOf?: (error: unknown) => string | undefined;
}

export interface Indexed {
  readonly contextId: string;
  readonly documents: number;
  readonly chunks: number;
}

/** Longer than any call may run: the process of an older operation is gone. */
const LOST_MS = 900_000;
const KEPT_OPERATIONS = 20;
/** Most contexts of a user. Each is a row that lists and searches read. */
const MOST_CONTEXTS = 500;

/**
 * Indexes documents as a context:
 *
 * 1. register the operation, so that `status` shows it and `cancel` stops it; delete the rows of lost operations
 * 2. index one document after another, invisible to readers
 * 3. make them the documents of the context, in one transaction, and delete the previous ones
 *
 * Rejects with the reason of `signal`, or with a MemoryFailure; everything indexed until then is deleted.
 */
export async function indexContext(
  storage: MemoryStorage,
  scope: MemoryScope,
  given: IndexRequest,
  signal: AbortSignal,
  onProgress: (documents: number) => void,
): Promise<Indexed | 'cancelled'> {
  const request = { ...given, name: storableText(given.name), path: storableText(given.path) };
  const done = await begin(storage, { ...scope, signal }, request);
  if (done !== undefined) return done;
  let [documents, chunks] = [0, 0];
  try {
    for await (const { path, text } of request.documents) {
      signal.throwIfAborted();
      const parts = await prepareChunks(storage, storableText(text), signal);
      signal.throwIfAborted();
      if (!(await addDocument(storage, { ...scope, signal }, request, storableText(path), parts)))
        return await undo(storage, scope, request, 'cancelled');
      chunks += parts.length;
      onProgress((documents += 1));
    }
    signal.throwIfAborted();
    return (await finish(storage, { ...scope, signal }, request, documents, chunks)) ?? (await undo(storage, scope, request, 'cancelled'));
  } catch (error) {
    // Ignores failures, possibly of the database: the next operation deletes the rest.
    const fault = error instanceof MemoryFailure ? error.message : request.reasonOf?.(error);
    await undo(storage, scope, request, signal.aborted ? 'cancelled' : 'failed', fault).catch(() => {});
    throw error;
  }
}

/** Result of an operation that is already complete: its process died before the response. Undefined for a new one. */
function begin(
  storage: MemoryStorage,
  scope: WaitingScope,
  { operationId, name, mode, total }: IndexRequest,
): Promise<Indexed | undefined> {
  return storage.change(scope, async (tables) => {
    const existing = await findContext(tables, { name });
    if (existing?.operation === operationId) return { contextId: existing.id, documents: existing.documents, chunks: existing.chunks };
    if (mode === 'add' && existing !== undefined)
      throw new MemoryFailure('conflict', `There is a knowledge context ${name} already. Use the command update, or another name.`);
    if (mode === 'update' && existing === undefined)
      throw new MemoryFailure('not_found', `No knowledge context ${name}. Use the command add.`);
    if (existing === undefined) await checkRoom(tables);
    const lost = await forgetOperations(tables, operationId);
    await countUsage(tables, shrinkage(lost), storage.options.quotas);
    await tables.insertOperation({ id: operationId, name, status: 'running', documents: 0, total, fault: null }).execute();
    return undefined;
  });
}

/** @throws MemoryFailure `quota_exceeded` if the user has the most contexts allowed */
async function checkRoom(tables: ScopedTables): Promise<void> {
  const { count } = await tables
    .contexts()
    .select((row) => row.fn.countAll<string>().as('count'))
    .executeTakeFirstOrThrow();
  if (Number(count) < MOST_CONTEXTS) return;
  throw new MemoryFailure(
    'quota_exceeded',
    `There are ${MOST_CONTEXTS} knowledge contexts, the most there may be. Remove one that is not needed.`,
  );
}

/** Deletes old operations, and documents without a context and a running operation; the operation itself starts from the beginning. */
async function forgetOperations(tables: ScopedTables, operationId: string) {
  const all = await tables.operations().selectAll().orderBy('started_at', 'desc').execute();
  const isLost = ({ status, updated_at }: (typeof all)[number]) => status === 'running' && Date.now() - updated_at.getTime() > LOST_MS;
  const gone = all.filter((it, index) => it.id === operationId || isLost(it) || (index >= KEPT_OPERATIONS && it.status !== 'running'));
  const ids = gone.map(({ id }) => id);
  if (ids.length > 0) await tables.deleteOperations().where('id', 'in', ids).execute();
  return tables
    .deleteItems()
    .where('kind', '=', 'document')
    .where('operation', 'not in', tables.contexts().select('operation'))
    .where('operation', 'not in', tables.operations().where('status', '=', 'running').select('id'))
    .returning(['id', 'chunks', 'bytes'])
    .execute();
}

/** False if the operation was cancelled. */
function addDocument(
  storage: MemoryStorage,
  scope: WaitingScope,
  { operationId }: IndexRequest,
  path: string,
  parts: Awaited<ReturnType<typeof prepareChunks>>,
): Promise<boolean> {
  return storage.change(scope, async (tables) => {
    const running = await tables
      .updateOperations()
      .set((row) => ({ documents: row('documents', '+', 1), updated_at: new Date() }))
      .where('id', '=', operationId)
      .where('status', '=', 'running')
      .returning('id')
      .executeTakeFirst();
    if (running === undefined) return false;
    const id = `document-${createHash('sha256')
      .update(JSON.stringify([scope.tenantId, scope.userId, operationId, path]))
      .digest('hex')}`;
    const growth = await insertItem(tables, { id, kind: 'document', name: path, operation: operationId }, parts);
    await countUsage(tables, growth, storage.options.quotas);
    return true;
  });
}

/** Undefined if the operation was cancelled. */
function finish(
  storage: MemoryStorage,
  scope: WaitingScope,
  { operationId, contextId, name, path }: IndexRequest,
  documents: number,
  chunks: number,
): Promise<Indexed | undefined> {
  return storage.change(scope, async (tables) => {
    const done = await setStatus(tables, operationId, 'completed');
    if (!done) return undefined;
    const before = await findContext(tables, { name });
    const facts = { path, operation: operationId, documents, chunks, updated_at: new Date() };
    if (before === undefined) {
      await checkRoom(tables);
      await tables.insertContext({ id: contextId, name, ...facts }).execute();
    } else await tables.updateContexts().set(facts).where('id', '=', before.id).execute();
    const replaced = before === undefined || before.operation === operationId ? [] : await removeDocuments(tables, [before.operation]);
    await countUsage(tables, shrinkage(replaced), storage.options.quotas);
    return { contextId: before?.id ?? contextId, documents, chunks };
  });
}

function undo(
  storage: MemoryStorage,
  scope: MemoryScope,
  { operationId }: IndexRequest,
  status: 'cancelled' | 'failed',
  fault?: string,
): Promise<'cancelled'> {
  return storage.change(scope, async (tables): Promise<'cancelled'> => {
    await setStatus(tables, operationId, status, fault);
    const current = await tables.contexts().where('operation', '=', operationId).select('id').executeTakeFirst();
    if (current === undefined) await countUsage(tables, shrinkage(await removeDocuments(tables, [operationId])), storage.options.quotas);
    return 'cancelled';
  });
}

/** False if the operation no longer runs. */
async function setStatus(tables: ScopedTables, id: string, status: 'completed' | 'cancelled' | 'failed', fault?: string): Promise<boolean> {
  const changed = await tables
    .updateOperations()
    .set({ status, fault: fault ?? null, updated_at: new Date() })
    .where('id', '=', id)
    .where('status', '=', 'running')
    .returning('id')
    .executeTakeFirst();
  return changed !== undefined;
}
