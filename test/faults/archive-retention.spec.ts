import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { listAll, type ArchiveStore } from '#archive';
import { partitionOf } from '#redis';
import { ArchivedInstallation } from '../support/archived-installation.js';
import { startRedisServer, type RedisServer } from '../support/redis-server.mjs';

const RUNS = 12;

describe('retention of the archive', () => {
  let server: RedisServer;
  let databases = 0;

  beforeAll(async () => {
    server = await startRedisServer({ settings: ['--databases', '100'] });
  });
  afterEach(async () => {
    for (const installation of opened.splice(0)) await installation.close();
  });
  afterAll(() => server.stop());

  const opened: ArchivedInstallation[] = [];
  const open = async (partitions = 1) => {
    const installation = await ArchivedInstallation.open({ redisUrl: `${server.url}/${databases++}`, partitions });
    opened.push(installation);
    return installation;
  };
  const namesOf = async (store: ArchiveStore) => {
    const names: string[] = [];
    for await (const name of listAll(store, '')) names.push(name);
    return names;
  };

  it('drops nothing that is younger, held or open, and all of a partition where nothing is', async () => {
    const step = fc.record({
      tenant: fc.constantFrom('acme', 'other', 'held'),
      kind: fc.constantFrom('ends', 'ends', 'stays open', 'ends later'),
      sealed: fc.boolean(),
    });
    const days = fc.record({ acme: fc.constantFrom(1, 10), other: fc.constantFrom(5, undefined), held: fc.constant(undefined) });
    const at = fc.array(fc.integer({ min: 0, max: 12 }), { minLength: 2, maxLength: 2 });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 8 }), days, at, async (steps, daysOf, times) => {
        const installation = await open(2);
        const made: { id: string; tenant: keyof typeof daysOf; isOpen: boolean; before: unknown }[] = [];
        for (const { tenant, kind, sealed } of steps) {
          const id = kind === 'ends' ? await installation.run(tenant) : await installation.submit(tenant);
          if (sealed || kind === 'ends later') await installation.archive();
          if (kind === 'ends later') await installation.end(id);
          made.push({ id, tenant, isOpen: kind === 'stays open', before: undefined });
        }
        await installation.archive();
        for (const call of made) call.before = await installation.read(call.id);
        for (const time of times.toSorted((a, b) => a - b)) {
          await installation.retain((tenant) => daysOf[tenant as keyof typeof daysOf], time);
          for (const name of installation.names()) {
            const calls = made.filter(({ id }) => partitionOf(id) === name);
            const mustStay = calls.filter(({ tenant, isOpen }) => isOpen || (daysOf[tenant] ?? Infinity) >= time + 1);
            for (const { id, before } of mustStay) expect(await installation.read(id)).toEqual(before);
            const isPast = ({ tenant }: (typeof made)[number]) => (daysOf[tenant] ?? Infinity) < time;
            if (calls.every((call) => !call.isOpen && isPast(call)))
              for (const { id } of calls) expect(await installation.read(id)).toBeUndefined();
          }
          expect(await installation.faults()).toEqual([]);
        }
      }),
      { numRuns: RUNS },
    );
  });

  it('leaves manifests and hashes of a dropped segment, and nothing else', async () => {
    const installation = await open();
    const first = await installation.submit('acme');
    await installation.archive();
    await installation.run('acme');
    await installation.archive();
    await installation.end(first);
    await installation.archive();
    const kept = await installation.run('other');
    await installation.archive();
    const before = await namesOf(installation.store);
    expect(before.filter((name) => /^(late|values|calls)\//.test(name)).length).toBeGreaterThan(5);
    expect(await installation.retain((tenant) => (tenant === 'acme' ? 30 : 40), 35)).toBe(3);
    const after = await namesOf(installation.store);
    const left = before.filter((name) => after.includes(name));
    expect(after.filter((name) => !before.includes(name))).toEqual([
      expect.stringMatching(/^log\/dropped\/p00\/g1\//),
      ...Array.from({ length: 3 }, () => expect.stringMatching(/^log\/p00\/g1\/leaves\//)),
    ]);
    expect(before.filter((name) => !left.includes(name)).every((name) => /^(late|values|calls|segments\/.*\.jsonl\.gz)/.test(name))).toBe(
      true,
    );
    expect(left.filter((name) => /^(late|values|calls)\//.test(name))).toHaveLength(2);
    expect([await installation.read(first), await installation.faults()]).toEqual([undefined, []]);
    expect(await installation.read(kept)).toBeDefined();
    expect(await installation.retain(() => 30, 35)).toBe(1);
    expect([await installation.read(kept), await installation.faults()]).toEqual([undefined, []]);
  });

  it('drops nothing that no checkpoint covers', async () => {
    const installation = await open();
    await installation.run('acme');
    await installation.archive();
    await installation.run('acme');
    const { sign } = installation;
    installation.sign = () => Promise.resolve();
    await installation.archive();
    expect(await installation.retain(() => 1, 2)).toBe(1);
    installation.sign = sign;
    await installation.sign();
    expect(await installation.retain(() => 1, 2)).toBe(1);
    expect(await installation.faults()).toEqual([]);
  });

  it('leaves an archive that verifies wherever it stops, and goes on there', async () => {
    for (let stop = 1, isDone = false; !isDone; stop += 1) {
      const installation = await open();
      const ids = [await installation.run('acme'), await installation.run('other')];
      await installation.archive();
      ids.push(await installation.run('acme'));
      await installation.archive();
      const before = await Promise.all(ids.map((id) => installation.read(id)));
      isDone = await installation
        .retain(() => 1, 2, stopping(installation.store, stop))
        .then(
          () => true,
          () => false,
        );
      expect([stop, await installation.faults()]).toEqual([stop, []]);
      for (const [index, id] of ids.entries()) expect([undefined, before[index]]).toContainEqual(await installation.read(id));
      await installation.retain(() => 1, 2);
      expect([stop, await installation.faults()]).toEqual([stop, []]);
      expect(await Promise.all(ids.map((id) => installation.read(id)))).toEqual([undefined, undefined, undefined]);
      expect((await namesOf(installation.store)).filter((name) => /^(values|calls|late)\/|gz$/.test(name))).toEqual([]);
    }
  });

  it('deletes no more once a tenant is held, also of what was signed before', async () => {
    const installation = await open();
    const id = await installation.run('acme');
    await installation.archive();
    const events = (await namesOf(installation.store)).filter((name) => /gz$|^values/.test(name));
    const blocked: ArchiveStore = { ...bound(installation.store), delete: () => Promise.reject(new Error('stopped')) };
    await expect(installation.retain(() => 1, 2, blocked)).rejects.toThrow('stopped');
    expect(await installation.retain(() => undefined, 2)).toBe(0);
    expect((await namesOf(installation.store)).filter((name) => events.includes(name))).toEqual(events);
    await installation.retain(() => 1, 2);
    expect((await namesOf(installation.store)).filter((name) => events.includes(name))).toEqual([]);
    expect(await installation.read(id)).toBeUndefined();
  });
});

function bound(store: ArchiveStore): ArchiveStore {
  return {
    label: store.label,
    get: (name) => store.get(name),
    list: (prefix, options) => store.list(prefix, options),
    delete: (name) => store.delete(name),
    put: (name, bytes) => store.put(name, bytes),
  };
}

/** Fails at the nth operation that changes it: the even ones before it is done, the others after it was. */
function stopping(store: ArchiveStore, nth: number): ArchiveStore {
  let count = 0;
  const counted = async <T>(change: () => Promise<T>): Promise<T> => {
    count += 1;
    if (count === nth && nth % 2 === 0) throw new Error('stopped before');
    const result = await change();
    if (count === nth) throw new Error('stopped after');
    return result;
  };
  return {
    ...bound(store),
    put: (name, bytes) => counted(() => store.put(name, bytes)),
    delete: (name) => counted(() => store.delete(name)),
  };
}
