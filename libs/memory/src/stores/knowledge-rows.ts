import type { Selectable } from 'kysely';
import type { ContextsTable } from '../database/tables.js';
import { storableText } from '../write/items.js';
import type { ScopedTables } from '../write/scoped-tables.js';

export type KnowledgeContext = Selectable<ContextsTable>;

/** Reference to a context by exactly one of the fields. */
export interface ContextName {
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  readonly path?: string | undefined;
}

export async function findContext(tables: ScopedTables, { id, name, path }: ContextName): Promise<KnowledgeContext | undefined> {
  let query = tables.contexts().selectAll();
  if (id !== undefined) query = query.where('id', '=', storableText(id));
  if (name !== undefined) query = query.where('name', '=', storableText(name));
  if (path !== undefined) query = query.where('path', '=', storableText(path));
  return query.orderBy('name').executeTakeFirst();
}

export function removeDocuments(tables: ScopedTables, operations: readonly string[]) {
  return tables
    .deleteItems()
    .where('kind', '=', 'document')
    .where('operation', 'in', operations)
    .returning(['id', 'chunks', 'bytes'])
    .execute();
}
