import { afterAll, afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RedactionSettingsService } from '#attempts';
import { HookSnapshotStore } from '#hooks';
import { Workspaces } from '../apps/worker/src/attempts/workspaces.js';

const folder = mkdtempSync(join(tmpdir(), 'toolyard-caches-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Backing store for misses; `reads` counts them. */
function backing(text: string) {
  const store = {
    reads: 0,
    get: () => ((store.reads += 1), Promise.resolve(text)),
    set: () => ((store.reads += 1), Promise.resolve('OK')),
  };
  return store;
}

interface Subject {
  readonly size: number;
  /** True if the entry exists. */
  hit(n: number): Promise<boolean>;
}

const counted = (size: number, store: { reads: number }, read: (n: number) => Promise<unknown>): Subject => ({
  size,
  hit: async (n) => {
    const { reads } = store;
    await read(n);
    return store.reads === reads;
  },
});

/** The entry is the same object as the time before. */
const remembered = (size: number, read: (n: number) => Promise<object>): Subject => {
  const before = new Map<number, object>();
  return {
    size,
    hit: async (n) => {
      const value = await read(n);
      const isSame = before.get(n) === value;
      before.set(n, value);
      return isSame;
    },
  };
};

const CACHES: readonly (readonly [string, () => Subject])[] = [
  [
    'redaction settings of calls',
    () => {
      const store = backing('{}');
      const settings = new RedactionSettingsService(store, []);
      return counted(256, store, (n) => settings.of(`${n}`));
    },
  ],
  [
    'hooks that were loaded',
    () => {
      const store = backing('[]');
      const hooks = new HookSnapshotStore(store as never);
      return counted(1_000, store, (n) => hooks.load(`${n}`));
    },
  ],
  [
    'hooks that were stored',
    () => {
      const store = backing('OK');
      const hooks = new HookSnapshotStore(store as never);
      return counted(1_000, store, (n) => hooks.save([{ name: `${n}` }] as never));
    },
  ],
  [
    'workspaces',
    () => {
      const workspaces = new Workspaces(folder);
      return remembered(1_024, (n) => workspaces.resolve({ tenantId: 't', sessionId: `s${n}` }));
    },
  ],
];

describe('a full cache', () => {
  // Entries of some caches are old after seconds, which a slow machine needs to fill one: time stands still.
  beforeEach(() => void jest.spyOn(performance, 'now').mockReturnValue(1));
  afterEach(() => void jest.restoreAllMocks());

  it.each(CACHES)('drops the entry of a full %s that was used longest ago, and no other', async (_what, make) => {
    const { size, hit } = make();
    for (let n = 0; n < size; n++) expect(await hit(n)).toBe(false);
    expect(await hit(0)).toBe(true);
    expect(await hit(size)).toBe(false);
    expect(await hit(0)).toBe(true);
    for (let n = size; n > 1; n--) if (!(await hit(n))) throw new Error(`entry ${n} of ${size} was dropped`);
    expect(await hit(1)).toBe(false);
  });
});
