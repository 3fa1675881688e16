import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { conceptVector } from '../../../test/support/embedding-server.js';
import type { MemoryDatabase } from './database/tables.js';
import { Memory } from './memory.js';
import { pgliteWithVectors } from './testing/pglite-database.js';

const QUOTA = { bytes: 10_000_000, rows: 10_000 };
const signal = new AbortController().signal;
const CONCEPTS = {
  model: 'concepts',
  label: 'concepts',
  isLimited: false,
  minSimilarity: 0.25,
  embed: (texts: readonly string[]) => Promise.resolve(texts.map(conceptVector)),
};
const TEXTS = [
  'An automobile stands outside.',
  'The puppy sleeps.',
  'A vacation with the hound',
  'The vehicle of the physician',
  'Nothing else.',
];

let db: MemoryDatabase;
beforeAll(async () => {
  db = await pgliteWithVectors();
});
afterAll(() => db.destroy());

const memory = (exactRows: number) =>
  new Memory({
    db,
    embeddings: CONCEPTS,
    weights: { text: 0.2, vector: 0.8 },
    quotas: { user: QUOTA, tenant: QUOTA },
    exactRows,
    onError: (error) => {
      throw error;
    },
  });

describe('vectors in a database with pgvector', () => {
  it('compares many vectors in a database with pgvector, for this user alone, with the same scores as in the process [TB-74]', async () => {
    const [alice, bob] = ['alice', 'bob'].map((userId) => ({ tenantId: 'acme', userId }));
    if (alice === undefined || bob === undefined) throw new Error('two users');
    for (const [index, text] of TEXTS.entries()) await memory(50_000).notes.save(alice, `note-${index}`, text, signal);
    await memory(50_000).notes.save(bob, 'note-of-bob', 'Bob has a car.', signal);
    for (const query of ['car', 'a dog on a trip', 'doctor', 'else']) {
      const search = (exactRows: number) => memory(exactRows).notes.search(alice, { query, limit: 10, turns: false }, signal);
      const [inProcess, inDatabase] = [await search(50_000), await search(1)];
      const rounded = ({ results }: typeof inProcess) => results.map(({ noteId, score }) => [noteId, score.toFixed(5)]);
      expect(rounded(inDatabase)).toEqual(rounded(inProcess));
      expect(inDatabase.results.length).toBeGreaterThan(0);
      expect(inDatabase.ranking).toBe('full text and concepts');
      expect(JSON.stringify(inDatabase.results)).not.toContain('Bob');
    }
  });
});
