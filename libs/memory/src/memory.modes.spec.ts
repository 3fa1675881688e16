import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { testDatabase } from '../../../test/support/postgres.js';
import { conceptVector } from '../../../test/support/embedding-server.js';
import type { MemoryDatabase } from './database/tables.js';
import type { EmbeddingProvider } from './embeddings/embedding-provider.port.js';
import { OFFLINE_EMBEDDINGS } from './embeddings/offline-embeddings.js';
import { Memory, openMemoryDatabase } from './memory.js';
import type { StorageOptions } from './storage.js';
import type { Document } from './stores/index-context.js';
import { changeInScope } from './write/scoped-tables.js';

const QUOTA = { bytes: 10_000_000, rows: 10_000 };
const signal = new AbortController().signal;
const ALICE = { tenantId: 'acme', userId: 'alice' };
const BOB = { tenantId: 'acme', userId: 'bob' };

const CONCEPTS: EmbeddingProvider = {
  model: 'concepts',
  label: 'concepts',
  isLimited: false,
  minSimilarity: 0.25,
  embed: (texts) => Promise.resolve(texts.map(conceptVector)),
};

let db: MemoryDatabase;
const errors: unknown[] = [];
beforeAll(async () => {
  db = openMemoryDatabase(await testDatabase(), (error) => errors.push(error));
});
afterAll(() => db.destroy());

const memory = (changed: Partial<StorageOptions> = {}) =>
  new Memory({
    db,
    embeddings: OFFLINE_EMBEDDINGS,
    weights: { text: 0.5, vector: 0.5 },
    quotas: { user: QUOTA, tenant: { bytes: 100_000_000, rows: 100_000 } },
    exactRows: 50_000,
    onError: (error) => errors.push(error),
    ...changed,
  });
const texts = async (of: Memory, scope: typeof ALICE, query: string) =>
  (await of.notes.search(scope, { query, limit: 20, turns: true }, signal)).results.map(({ text }) => text);
const usage = async (scope: typeof ALICE) => {
  const { rows } = await sql<{ user_id: string; items: number; chunks: number; bytes: number }>`
    select user_id, items, chunks, bytes from usage where tenant_id = ${scope.tenantId} order by user_id`.execute(db);
  return rows;
};

describe('a search', () => {
  it('finds words and their forms without a model, and states that synonyms are not found', async () => {
    const scope = { tenantId: 'offline', userId: 'alice' };
    const offline = memory();
    await offline.notes.save(scope, 'note-1', 'The deployments failed on Monday.', signal);
    await offline.notes.save(scope, 'note-2', 'An automobile is in the garage.', signal);
    expect((await texts(offline, scope, 'deployments'))[0]).toBe('The deployments failed on Monday.');
    expect((await texts(offline, scope, 'deploymnts faild'))[0]).toBe('The deployments failed on Monday.');
    expect(await texts(offline, scope, 'vehicle')).toEqual([]);
    const { ranking, isLimited } = await offline.notes.search(scope, { query: 'x', limit: 5, turns: false }, signal);
    expect([ranking, isLimited]).toEqual([expect.stringMatching(/^full text and hashed n-grams, since no embedding model/), true]);
  });

  it('ranks by text alone or by vectors alone if the other weight is 0 [TB-74]', async () => {
    const scope = { tenantId: 'weights', userId: 'alice' };
    const store = memory({ embeddings: CONCEPTS });
    await store.notes.save(scope, 'note-3', 'The physician wrote a report about the parking garage.', signal);
    await store.notes.save(scope, 'note-4', 'An automobile stands outside.', signal);
    const ranked = (text: number, vector: number) =>
      texts(memory({ embeddings: CONCEPTS, weights: { text, vector } }), scope, 'garage vehicle');
    expect(await ranked(1, 0)).toEqual(['The physician wrote a report about the parking garage.']);
    expect(await ranked(0, 1)).toEqual(['An automobile stands outside.']);
    expect(new Set(await ranked(0.5, 0.5)).size).toBe(2);
  });

  it('falls back to full text if the vectors of many rows are not comparable, and reports it', async () => {
    const scope = { tenantId: 'many', userId: 'alice' };
    const store = memory({ embeddings: CONCEPTS, exactRows: 1 });
    await store.notes.save(scope, 'note-5', 'An automobile stands outside.', signal);
    await store.notes.save(scope, 'note-6', 'The vehicle is red.', signal);
    expect(await texts(store, scope, 'vehicle')).toEqual(['The vehicle is red.']);
    const { ranking } = await store.notes.search(scope, { query: 'vehicle', limit: 5, turns: false }, signal);
    expect(ranking).toContain('the database has no pgvector');
  });

  it('compares no vectors of another model', async () => {
    const scope = { tenantId: 'models', userId: 'alice' };
    await memory().notes.save(scope, 'note-7', 'An automobile stands outside.', signal);
    const other = memory({ embeddings: { ...CONCEPTS, model: 'another' } });
    expect(await texts(other, scope, 'vehicle')).toEqual([]);
    expect(await texts(other, scope, 'automobile')).toEqual(['An automobile stands outside.']);
  });
});

describe('what is stored', () => {
  it('limits stored notes by user and tenant to the byte, and frees room of deleted ones', async () => {
    const [one, two] = [
      { tenantId: 'full', userId: 'one' },
      { tenantId: 'full', userId: 'two' },
    ];
    const small = memory({ quotas: { user: { bytes: 1_000_000, rows: 3 }, tenant: { bytes: 1_000_000, rows: 4 } } });
    for (const id of ['note-a', 'note-b', 'note-c']) await small.notes.save(one, id, `text of ${id}`, signal);
    await expect(small.notes.save(one, 'note-d', 'too much', signal)).rejects.toMatchObject({ code: 'quota_exceeded' });
    expect(await texts(small, one, 'too much')).toEqual([]);
    await small.notes.save(two, 'note-e', 'text', signal);
    await expect(small.facts.store(two, { key: 'k', content: 'c', category: 'core', inSession: false }, signal)).rejects.toThrow(
      'The memory of the tenant is full',
    );
    for (const id of ['note-a', 'note-b', 'note-c']) await small.notes.delete(one, id, signal);
    await small.notes.update(two, 'note-e', 'text of more', signal);
    await small.notes.delete(two, 'note-e', signal);
    expect(await usage(one)).toEqual(['', 'one', 'two'].map((user_id) => ({ user_id, items: 0, chunks: 0, bytes: 0 })));
  });

  it('shows one version at any time while a note is replaced; a failure keeps the old text', async () => {
    const scope = { tenantId: 'crash', userId: 'alice' };
    await memory().notes.save(scope, 'note-x', 'the old text', signal);
    const failing = memory({ quotas: { user: { bytes: 1, rows: 1 }, tenant: QUOTA } });
    await expect(failing.notes.update(scope, 'note-x', 'the new and longer text of it', signal)).rejects.toMatchObject({
      code: 'quota_exceeded',
    });
    expect(await texts(memory(), scope, 'text')).toEqual(['the old text']);
  });

  it('hides notes from other users in the database, for any query', async () => {
    await memory().notes.save(ALICE, 'note-secret', 'only for Alice', signal);
    await db.connection().execute(async (connection) => {
      await sql`create role reader_of_memory nologin`.execute(connection);
      await sql`grant usage on schema toolyard_memory to reader_of_memory`.execute(connection);
      await sql`grant select, delete on all tables in schema toolyard_memory to reader_of_memory`.execute(connection);
      const seenAs = async (user: string) =>
        connection.transaction().execute(async (transaction) => {
          await sql`set local role reader_of_memory`.execute(transaction);
          await sql`select set_config('toolyard.tenant', 'acme', true), set_config('toolyard.user', ${user}, true)`.execute(transaction);
          const { rows } = await sql<{ id: string }>`select id from items where id = 'note-secret'`.execute(transaction);
          return rows.length;
        });
      expect([await seenAs('alice'), await seenAs('bob'), await seenAs('')]).toEqual([1, 0, 0]);
      await sql`drop owned by reader_of_memory`.execute(connection);
      await sql`drop role reader_of_memory`.execute(connection);
    });
    await expect(memory().notes.delete(BOB, 'note-secret', signal)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('deletes everything of one user by `forget_user`, and nothing of others', async () => {
    const [gone, stays] = [
      { tenantId: 'forget', userId: 'gone' },
      { tenantId: 'forget', userId: 'stays' },
    ];
    const store = memory();
    for (const scope of [gone, stays])
      await store.turns.add(scope, `turn-${scope.userId}`, { role: 'user', content: 'hello there' }, signal);
    await sql`select forget_user('forget', 'gone')`.execute(db);
    expect([await texts(store, gone, 'hello'), await texts(store, stays, 'hello')]).toEqual([[], ['hello there']]);
    const [tenant, user] = await usage(gone);
    expect([tenant?.items, user]).toEqual([1, { ...tenant, user_id: 'stays' }]);
  });

  it('stores any text: NUL, half characters, quotes of the query language, and no words at all', async () => {
    const scope = { tenantId: 'odd', userId: 'alice' };
    const store = memory();
    for (const [index, text] of ['a\0b', '\ud800 half', "it's & | ! :* <-> \\ '", '…!?', 'x'.repeat(30_000)].entries()) {
      await store.notes.save(scope, `note-odd-${index}`, text, signal);
      await texts(store, scope, text.slice(0, 2_000));
    }
    expect(await texts(store, scope, "it's & | half")).toEqual(expect.arrayContaining([expect.stringContaining('half')]));
  });
});

describe('changes of one user', () => {
  it('blocks no connection of other users by waiting changes, and drops changes of ended calls', async () => {
    const [alice, bob] = [
      { tenantId: 'busy', userId: 'alice' },
      { tenantId: 'busy', userId: 'bob' },
    ];
    const store = memory();
    await store.notes.save(alice, 'busy-first', 'The first note.', signal);
    const ended = new AbortController();
    let saves: Promise<PromiseSettledResult<void>[]> | undefined;
    // Simulates another worker that changes alice's data.
    await changeInScope(db, alice, async () => {
      const early = Array.from({ length: 20 }, (_, i) => store.notes.save(alice, `busy-${i}`, `Note number ${i}.`, signal));
      saves = Promise.allSettled([...early, store.notes.save(alice, 'busy-late', 'Too late.', ended.signal)]);
      await store.notes.save(bob, 'busy-of-bob', 'I am not kept waiting.', signal);
      expect(await texts(store, bob, 'waiting')).toEqual(['I am not kept waiting.']);
      ended.abort(new Error('the call ended'));
    });
    const failures = (await saves)?.flatMap((save) => (save.status === 'rejected' ? [save.reason as unknown] : []));
    expect(failures).toEqual([new Error('the call ended')]);
    expect(await usage(alice)).toMatchObject([
      { user_id: '', items: 22 },
      { user_id: 'alice', items: 21 },
      { user_id: 'bob', items: 1 },
    ]);
  });
});

describe('a call that ends while its change waits', () => {
  const scope = { tenantId: 'ended', userId: 'alice' };
  const page = async function* () {
    yield { path: 'page.md', text: 'the page' };
  };
  const request = (name: string) => {
    const ids = { operationId: `ended-${name}`, contextId: `ended-${name}` };
    return { ...ids, name, path: '', mode: 'add', total: 1, documents: page() } as const;
  };
  type Change = (store: Memory, ended: AbortSignal) => Promise<unknown>;
  it.each<[string, Change]>([
    ['a fact', (store, ended) => store.facts.forget(scope, 'fact', ended)],
    ['a note', (store, ended) => store.notes.delete(scope, 'note-ended', ended)],
    ['a context', (store, ended) => store.knowledge.remove(scope, { name: 'manual of alice' }, ended)],
    ['all contexts', (store, ended) => store.knowledge.clear(scope, ended)],
  ])('deletes nothing for a call that ends while its change waits: %s', async (_, change) => {
    const store = memory();
    await store.knowledge.clear(scope, signal);
    await store.facts.store(scope, { key: 'fact', content: 'the fact', category: 'core', inSession: false }, signal);
    await store.notes.save(scope, 'note-ended', 'the note', signal);
    await store.index(scope, request('manual of alice'), signal, () => {});
    const before = await usage(scope);
    const ended = new AbortController();
    let changed: Promise<unknown[]> | undefined;
    await changeInScope(db, scope, async () => {
      // The first waits in the database, the second for the first.
      changed = Promise.allSettled([store.facts.forget(scope, 'none', signal), change(store, ended.signal)]);
      await texts(store, BOB, 'anything');
      ended.abort(new Error('the call ended'));
    });
    expect(await changed).toEqual([
      { status: 'fulfilled', value: false },
      { status: 'rejected', reason: new Error('the call ended') },
    ]);
    expect(await usage(scope)).toEqual(before);
    expect((await store.knowledge.contexts(scope)).map(({ name }) => name)).toEqual(['manual of alice']);
  });

  it('begins no indexing, and stops a running one, for an ended call', async () => {
    const store = memory();
    const ended = new AbortController();
    let changed: Promise<unknown[]> | undefined;
    const documents = async function* () {
      yield { path: 'one.md', text: 'the first page' };
      await changeInScope(db, scope, async () => {
        changed = Promise.allSettled([
          store.facts.forget(scope, 'none', signal),
          store.knowledge.cancel(scope, undefined, ended.signal),
          store.index(scope, request('late'), ended.signal, () => {}),
        ]);
        await texts(store, BOB, 'anything');
        ended.abort(new Error('the call ended'));
      });
      await changed;
      yield { path: 'two.md', text: 'the second page' };
    };
    expect(await store.index(scope, { ...request('long'), documents: documents() }, signal, () => {})).toMatchObject({ documents: 2 });
    const rejected = { status: 'rejected', reason: new Error('the call ended') };
    expect(await changed).toEqual([{ status: 'fulfilled', value: false }, rejected, rejected]);
    expect((await store.knowledge.operations(scope)).map(({ name }) => name)).not.toContain('late');
  });
});

describe('indexing', () => {
  const request = (name: string, documents: AsyncIterable<Document>, mode: 'add' | 'update' = 'add') => ({
    operationId: `operation-${name}-${mode}`,
    contextId: `context-${name}`,
    name,
    path: '',
    mode,
    total: 3,
    documents,
  });
  const scope = { tenantId: 'knowledge', userId: 'alice' };
  const find = (of: Memory, query: string) =>
    of.knowledge
      .search(scope, { query, limit: 10, offset: 0, sortBy: 'path' }, signal)
      .then(({ results }) => results.map(({ path }) => path));

  it('cancels an indexing by another call: none of it is found, and its room is freed [TB-79]', async () => {
    const store = memory();
    const seen: unknown[] = [];
    const documents = async function* () {
      yield { path: 'one.md', text: 'the first page' };
      seen.push((await store.knowledge.operations(scope)).map(({ status, documents: done, total }) => ({ status, done, total })));
      expect(await find(store, 'page')).toEqual([]);
      expect(await store.knowledge.cancel(scope, undefined, signal)).toEqual(['operation-manual-add']);
      yield { path: 'two.md', text: 'the second page' };
    };
    expect(await store.index(scope, request('manual', documents()), signal, () => {})).toBe('cancelled');
    expect(seen).toEqual([[{ status: 'running', done: 1, total: 3 }]]);
    expect(await store.knowledge.operations(scope)).toMatchObject([{ status: 'cancelled' }]);
    expect(await find(store, 'page')).toEqual([]);
    expect(await usage(scope)).toMatchObject([{ chunks: 0 }, { chunks: 0 }]);
  });

  it('deletes the rest of a lost indexing when another one begins', async () => {
    const lost = { tenantId: 'lost', userId: 'alice' };
    const store = memory();
    const one = async function* () {
      yield await Promise.resolve({ path: 'one', text: 'the first page' });
    };
    // Simulates a process that dies after the first document: the loop never ends.
    const arrived = new Promise<void>((resolve) => {
      const documents = async function* () {
        yield* one();
        resolve();
        await new Promise(() => {});
      };
      void store.index(lost, request('dying', documents()), signal, () => {});
    });
    await arrived;
    await sql`update operations set updated_at = now() - interval '1 hour' where tenant_id = 'lost'`.execute(db);
    await store.index(lost, request('next', one()), signal, () => {});
    expect((await store.knowledge.operations(lost)).map(({ name, status }) => [name, status])).toEqual([['next', 'completed']]);
    expect((await usage(lost)).map(({ items, chunks }) => [items, chunks])).toEqual([
      [1, 1],
      [1, 1],
    ]);
  });

  it('bounds indexes to 500 of a user, also when the last ones are made at the same time', async () => {
    const many = { tenantId: 'crowded', userId: 'alice' };
    const store = memory();
    expect(await store.knowledge.operations(many)).toEqual([]);
    await sql`
      insert into contexts (tenant_id, user_id, id, name, path, operation, documents, chunks, updated_at)
      select 'crowded', 'alice', 'context-' || n, 'name-' || n, '', 'operation-' || n, 0, 0, now() from generate_series(1, 499) as n`.execute(
      db,
    );
    const page = async function* (before?: () => Promise<unknown>) {
      await before?.();
      yield await Promise.resolve({ path: 'one', text: 'the first page' });
    };
    const last = () => store.index(many, request('last', page()), signal, () => {});
    const full = { code: 'quota_exceeded', message: expect.stringContaining('There are 500 knowledge contexts') };
    await expect(store.index(many, request('late', page(last)), signal, () => {})).rejects.toMatchObject(full);
    await expect(store.index(many, request('next', page()), signal, () => {})).rejects.toMatchObject(full);
    expect(await store.index(many, request('last', page(), 'update'), signal, () => {})).toMatchObject({ documents: 1 });
    expect((await usage(many)).map(({ chunks }) => chunks)).toEqual([1, 1]);
    await store.index({ ...many, userId: 'bob' }, request('first', page()), signal, () => {});
  });

  it('replaces indexed documents atomically at the end of the next indexing, and keeps them if it fails', async () => {
    const store = memory();
    const pages = async function* (...names: string[]) {
      for (const path of names) yield await Promise.resolve({ path, text: `page of ${path}` });
    };
    await store.index(scope, request('book', pages('a', 'b')), signal, () => {});
    const repeated = await store.index(scope, request('book', pages()), signal, () => {});
    expect(repeated).toEqual({ contextId: 'context-book', documents: 2, chunks: 2 });
    const failing = async function* () {
      yield await Promise.resolve({ path: 'c', text: 'page of c' });
      throw new Error('the disk is gone');
    };
    await expect(store.index(scope, request('book', failing(), 'update'), signal, () => {})).rejects.toThrow('the disk is gone');
    expect(await find(store, 'page')).toEqual(['a', 'b']);
    await store.index(scope, request('book', pages('b', 'd'), 'update'), signal, () => {});
    expect(await find(store, 'page')).toEqual(['b', 'd']);
    await expect(
      store.index(scope, { ...request('book', pages('e')), operationId: 'operation-other' }, signal, () => {}),
    ).rejects.toMatchObject({
      code: 'conflict',
    });
    expect((await usage(scope)).map(({ chunks }) => chunks)).toEqual([2, 2]);
  });
});

it('meets no failure of the database that these tests did not expect', () => {
  expect(errors).toEqual([]);
});
