import { sql, type Insertable, type InsertObject } from 'kysely';
import type { ContextsTable, ItemsTable, MemoryDatabase, MemoryTables, OperationsTable } from '../database/tables.js';

/** Owner of the memory. Tenants and users are isolated from each other. */
export interface MemoryScope {
  readonly tenantId: string;
  readonly userId: string;
  /** Session for items bound to one. */
  readonly sessionId?: string | undefined;
}

type Own = 'tenant_id' | 'user_id';
type Table = 'items' | 'chunks' | 'contexts' | 'operations';

/** Tables in the scope of one user. All queries begin here: the only place that adds tenant and user, and that names tables. */
export class ScopedTables {
  constructor(
    readonly db: MemoryDatabase,
    readonly scope: MemoryScope,
  ) {}

  items() {
    return this.db.selectFrom('items').where(this.own('items'));
  }

  chunks() {
    return this.db.selectFrom('chunks').where(this.own('chunks'));
  }

  contexts() {
    return this.db.selectFrom('contexts').where(this.own('contexts'));
  }

  operations() {
    return this.db.selectFrom('operations').where(this.own('operations'));
  }

  /** Deletes items, whose chunks are deleted by the database. */
  deleteItems() {
    return this.db.deleteFrom('items').where(this.own('items'));
  }

  deleteChunks() {
    return this.db.deleteFrom('chunks').where(this.own('chunks'));
  }

  deleteContexts() {
    return this.db.deleteFrom('contexts').where(this.own('contexts'));
  }

  deleteOperations() {
    return this.db.deleteFrom('operations').where(this.own('operations'));
  }

  updateItems() {
    return this.db.updateTable('items').where(this.own('items'));
  }

  updateContexts() {
    return this.db.updateTable('contexts').where(this.own('contexts'));
  }

  updateOperations() {
    return this.db.updateTable('operations').where(this.own('operations'));
  }

  insertItem(row: Omit<Insertable<ItemsTable>, Own>) {
    return this.db.insertInto('items').values({ ...row, ...this.ids });
  }

  insertChunks(rows: readonly Omit<InsertObject<MemoryTables, 'chunks'>, Own>[]) {
    return this.db.insertInto('chunks').values(rows.map((row) => ({ ...row, ...this.ids })));
  }

  insertContext(row: Omit<Insertable<ContextsTable>, Own>) {
    return this.db.insertInto('contexts').values({ ...row, ...this.ids });
  }

  insertOperation(row: Omit<Insertable<OperationsTable>, Own>) {
    return this.db.insertInto('operations').values({ ...row, ...this.ids });
  }

  private get ids() {
    return { tenant_id: this.scope.tenantId, user_id: this.scope.userId };
  }

  private own(table: Table) {
    const { tenantId, userId } = this.scope;
    return sql<boolean>`${sql.ref(`${table}.tenant_id`)} = ${tenantId} and ${sql.ref(`${table}.user_id`)} = ${userId}`;
  }
}

/** Runs a transaction that sees only the rows of this user, enforced by the server too (row-level security). */
export function inScope<T>(db: MemoryDatabase, scope: MemoryScope, run: (tables: ScopedTables) => Promise<T>): Promise<T> {
  return db.transaction().execute(async (transaction) => {
    const { tenantId, userId } = scope;
    await sql`select set_config('toolyard.tenant', ${tenantId}, true), set_config('toolyard.user', ${userId}, true)`.execute(transaction);
    return run(new ScopedTables(transaction, scope));
  });
}

/** Like `inScope` for changes, serialised for each user. */
export function changeInScope<T>(db: MemoryDatabase, scope: MemoryScope, run: (tables: ScopedTables) => Promise<T>): Promise<T> {
  return inScope(db, scope, async (tables) => {
    const name = JSON.stringify(['toolyard_memory', scope.tenantId, scope.userId]);
    await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(tables.db);
    return run(tables);
  });
}
