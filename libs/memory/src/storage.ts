import pLimit, { type LimitFunction } from 'p-limit';
import { HistoryUnavailable } from '#history';
import { migrateMemory } from './database/migrate-memory.js';
import type { MemoryDatabase } from './database/tables.js';
import type { EmbeddingProvider } from './embeddings/embedding-provider.port.js';
import { embedAll, type Embedding } from './embeddings/vectors.js';
import { MemoryFailure } from './memory-failure.js';
import type { SearchWeights } from './retrieval/merge-scores.js';
import { changeInScope, inScope, type MemoryScope, type ScopedTables } from './write/scoped-tables.js';
import type { MemoryQuotas } from './write/usage.js';

export interface StorageOptions {
  readonly db: MemoryDatabase;
  readonly embeddings: EmbeddingProvider;
  readonly weights: SearchWeights;
  readonly quotas: MemoryQuotas;
  /** Chunks of a tenant up to which the vectors of a user are compared in this process. */
  readonly exactRows: number;
  /** Called if the database or the embedding model fails. */
  readonly onError: (error: unknown) => void;
}

/** Scope with a signal. An abort stops a transaction only before its begin. */
export type WaitingScope = MemoryScope & { readonly signal?: AbortSignal };

/** Number of connections, and of concurrent transactions: further ones wait here, as the pool gives up after seconds. */
export const CONNECTIONS = 4;

/** Database and embedding model for the stores. */
export class MemoryStorage {
  private readonly transactions = pLimit(CONNECTIONS);
  /** Queues of changes by user. Changes wait for each other without a connection, which other users need. */
  private readonly changes = new Map<string, { readonly inTurn: LimitFunction; open: number }>();
  private ready: Promise<void> | undefined;
  private refusal: string | undefined;

  constructor(readonly options: StorageOptions) {}

  /** Reason why nothing can be stored until an operator acts; undefined if none is known. */
  get fault(): string | undefined {
    return this.refusal;
  }

  /** Reads in a transaction. Rejects with a MemoryFailure if the database does not respond. */
  read<T>({ signal, ...scope }: WaitingScope, run: (tables: ScopedTables) => Promise<T>): Promise<T> {
    return this.typed((db) => inScope(db, scope, run), signal);
  }

  /** Like `read`, with the changes of one user serialised. */
  async change<T>({ signal, ...scope }: WaitingScope, run: (tables: ScopedTables) => Promise<T>): Promise<T> {
    const user = JSON.stringify([scope.tenantId, scope.userId]);
    const changes = this.changes.get(user) ?? { inTurn: pLimit(1), open: 0 };
    this.changes.set(user, changes);
    changes.open += 1;
    try {
      return await changes.inTurn(() => this.typed((db) => changeInScope(db, scope, run), signal));
    } finally {
      changes.open -= 1;
      if (changes.open === 0) this.changes.delete(user);
    }
  }

  /** Undefined for texts without a vector; `failed` if the model did not respond, which does not prevent storing. */
  async embed(
    texts: readonly string[],
    signal: AbortSignal,
  ): Promise<{ readonly embeddings: readonly (Embedding | undefined)[]; readonly failed: boolean }> {
    try {
      return { embeddings: await embedAll(this.options.embeddings, texts, signal), failed: false };
    } catch (error) {
      signal.throwIfAborted();
      this.options.onError(error);
      return { embeddings: texts.map(() => undefined), failed: true };
    }
  }

  close(): Promise<void> {
    return this.options.db.destroy();
  }

  private async typed<T>(run: (db: MemoryDatabase) => Promise<T>, signal?: AbortSignal): Promise<T> {
    try {
      await (this.ready ??= this.migrate());
      return await this.transactions(() => {
        signal?.throwIfAborted();
        return run(this.options.db);
      });
    } catch (error) {
      if (!(error instanceof HistoryUnavailable)) throw error;
      this.options.onError(error);
      throw new MemoryFailure('unavailable', 'The memory cannot be reached: its database does not answer. Try again later.', {
        cause: error,
      });
    }
  }

  /** Migrates the tables. The next use repeats a failed migration. */
  private async migrate(): Promise<void> {
    try {
      await migrateMemory(this.options.db);
      this.refusal = undefined;
    } catch (error) {
      this.ready = undefined;
      const code = error instanceof HistoryUnavailable ? error.code : undefined;
      this.refusal = code === undefined ? undefined : `its tables cannot be made in the database of DATABASE_URL (SQLSTATE ${code})`;
      throw error;
    }
  }
}
