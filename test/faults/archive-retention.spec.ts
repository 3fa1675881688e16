import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { listAll, type ArchiveStore } from '#archive';
import { ContentKeyStore, ErasureStore } from '#history';
import { partitionOf } from '#redis';
import { Eraser, type ArchiveDays } from '#sealing';
import { ArchivedInstallation, type InstallationOptions } from '../support/archived-installation.js';
import { openTestDatabase, testDatabase } from '../support/postgres.js';
import { aCall, aSubmission } from '../support/sample-calls.js';
import { startRedisServer, type RedisServer } from '../support/redis-server.mjs';
import { S3_BUCKET, S3Server } from '../support/s3-server.js';

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
  const open = async (more: Partial<InstallationOptions> = {}) => {
    const installation = await ArchivedInstallation.open({ redisUrl: `${server.url}/${databases++}`, partitions: 1, ...more });
    opened.push(installation);
    return installation;
  };
  const namesOf = async (store: ArchiveStore) => {
    const names: string[] = [];
    for await (const name of listAll(store, '')) names.push(name);
    return names;
  };

  it('drops no young, held or open segment of the archive, and all of a partition without them', async () => {
    const step = fc.record({
      tenant: fc.constantFrom('acme', 'other', 'held'),
      kind: fc.constantFrom('ends', 'ends', 'stays open', 'ends later'),
      sealed: fc.boolean(),
    });
    const days = fc.record({ acme: fc.constantFrom(1, 10), other: fc.constantFrom(5, undefined), held: fc.constant(undefined) });
    const at = fc.array(fc.integer({ min: 0, max: 12 }), { minLength: 2, maxLength: 2 });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 8 }), days, at, async (steps, daysOf, times) => {
        const installation = await open({ partitions: 2 });
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

  it('leaves only manifests and hashes of a dropped segment', async () => {
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

  it('drops segments of an archive in S3 as in a folder', async () => {
    const s3 = await S3Server.start();
    const environment = { ...process.env };
    Object.assign(process.env, s3.env);
    try {
      const installation = await open({ archiveUrl: `s3://${S3_BUCKET}/toolyard` });
      const [gone, kept] = [await installation.run('acme'), await installation.submit('acme')];
      await installation.archive();
      expect(await installation.retain(() => 1, 2)).toBe(0);
      await installation.end(kept);
      await installation.archive();
      expect(await installation.retain(() => 1, 2)).toBe(2);
      expect(await Promise.all([gone, kept].map((id) => installation.read(id)))).toEqual([undefined, undefined]);
      expect((await namesOf(installation.store)).filter((name) => /^(values|calls|late)\/|gz$/.test(name))).toEqual([]);
      expect(await installation.faults()).toEqual([]);
    } finally {
      process.env = environment;
      await s3.stop();
    }
  });

  it('deletes keys and large values of an erasable tenant after its days, also from kept segments', async () => {
    const db = openTestDatabase(await testDatabase());
    try {
      const contentKeys = new ContentKeyStore(db);
      const installation = await open({ keys: contentKeys, erasable: ['acme', 'young'] });
      const [gone, stays, open_] = [await installation.run('acme'), await installation.run('young'), await installation.submit('acme')];
      const plain = await installation.run('other');
      await installation.archive();
      const before = await Promise.all([stays, plain].map((id) => installation.read(id)));
      const days = new Map([
        ['acme', 30],
        ['young', 60],
      ]);
      expect(await installation.retain((tenant) => days.get(tenant), 40)).toBe(0);

      expect(await contentKeys.read([gone, stays, open_])).toEqual(
        new Map([
          [gone, null],
          [stays, expect.any(Buffer)],
          [open_, expect.any(Buffer)],
        ]),
      );
      expect(await installation.read(gone)).toMatchObject({ call: { erased: true, outcome: 'completed' } });
      expect(JSON.stringify(await installation.read(gone))).not.toContain('content');
      expect(await Promise.all([stays, plain].map((id) => installation.read(id)))).toEqual(before);
      expect((await namesOf(installation.store)).filter((name) => name.startsWith('values/'))).toHaveLength(2);
      expect(await installation.faults()).toEqual([]);

      await installation.end(open_);
      await installation.archive();
      expect(await installation.retain(() => 30, 40)).toBe(2);
      expect(await contentKeys.read([gone, stays, open_])).toEqual(new Map());
      expect([await installation.read(gone), await installation.faults()]).toEqual([undefined, []]);
    } finally {
      await db.destroy();
    }
  });

  it('completes an erasure of a call that retention has dropped', async () => {
    const db = openTestDatabase(await testDatabase());
    try {
      const [contentKeys, erasures] = [new ContentKeyStore(db), new ErasureStore(db)];
      const installation = await open({ keys: contentKeys, erasable: ['acme'] });
      const callId = await installation.run('acme');
      await installation.archive();
      await installation.retain(() => 1, 2);
      await erasures.request({ callId, tenantId: 'acme', partition: '00', lastSeq: 3, requestedBy: 'apikey:test', reason: undefined });
      const { redis, store } = installation;
      const eraser = new Eraser({ redis, store, keys: contentKeys, erasures, holds: () => () => false });
      expect(await eraser.round()).toBe(1);
      expect(await erasures.find(callId)).toMatchObject({ doneAt: expect.any(Date), fault: undefined });
    } finally {
      await db.destroy();
    }
  });

  it('starts a new generation for the events of a Redis that lost everything', async () => {
    const installation = await open();
    const lost = await installation.run('acme');
    await installation.archive();
    expect(await installation.retain(() => 1, 2)).toBe(1);
    await installation.redis.flushdb();
    const next = await open({
      redisUrl: installation.redisUrl,
      archiveUrl: `file://${installation.folder}/archive`,
      keyFile: installation.keyFile,
    });
    const calls = [await next.run('acme'), await next.run('acme')];
    const before = await Promise.all(calls.map((id) => next.read(id)));
    await next.archive();
    expect(await Promise.all(calls.map((id) => next.read(id)))).toEqual(before);
    expect([await next.read(lost), await next.faults()]).toEqual([undefined, []]);
    expect(await next.retain(() => 1, 2)).toBe(1);
    expect([await next.read(calls[0] ?? ''), await next.faults()]).toEqual([undefined, []]);
  });

  it('keeps the key of a call that continues in a later generation', async () => {
    const db = openTestDatabase(await testDatabase());
    try {
      const keys = new ContentKeyStore(db);
      const installation = await open({ keys, erasable: ['acme'] });
      const callId = await installation.run('acme');
      await installation.archive();
      const before = await keys.read([callId]);
      await installation.redis.flushdb();
      const { redisUrl, folder, keyFile } = installation;
      const next = await open({ redisUrl, archiveUrl: `file://${folder}/archive`, keyFile, keys, erasable: ['acme'] });
      await next.log.accept(aCall(callId, { meta: { tenantId: 'acme', tool: 'echo' }, submitted: aSubmission() }));
      await next.archive();
      expect(await next.retain(() => 1, 2)).toBe(1);
      expect([before.get(callId), await keys.read([callId])]).toEqual([expect.any(Buffer), before]);
      await next.end(callId);
      await next.archive();
      expect([await keys.read([callId]), await next.faults()]).toEqual([before, []]);
    } finally {
      await db.destroy();
    }
  });

  it('drops a whole call with its beginning, even if another tenant keeps the segment of its End', async () => {
    const installation = await open();
    const spanning = await installation.submit('acme');
    await installation.archive();
    await installation.end(spanning);
    const kept = await installation.run('other');
    await installation.archive();
    const before = await installation.read(kept);
    const days = (tenant: string) => (tenant === 'acme' ? 30 : undefined);
    expect(await installation.retain(days, 31)).toBe(1);
    expect(await Promise.all([spanning, kept].map((id) => installation.read(id)))).toEqual([undefined, before]);
    expect(await installation.retain(() => 30, 31)).toBe(1);
    expect([await installation.read(kept), await installation.faults()]).toEqual([undefined, []]);
  });

  it('drops nothing of the archive that no checkpoint covers', async () => {
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

  it('leaves a verifiable archive wherever retention stops, and continues there', async () => {
    for (let stop = 1, isDone = false; !isDone; stop += 1) {
      const installation = await open();
      const ids = [await installation.run('acme'), await installation.run('other')];
      await installation.archive();
      ids.push(await installation.run('acme'));
      await installation.archive();
      const before = await Promise.all(ids.map((id) => installation.read(id)));
      isDone = await installation
        .retain(() => 1, 2, { store: stopping(installation.store, stop) })
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

  it('keeps the segments with calls of held sessions and agents, and their keys, until the hold is lifted', async () => {
    const db = openTestDatabase(await testDatabase());
    try {
      const keys = new ContentKeyStore(db);
      const installation = await open({ keys, erasable: ['secret'] });
      const gone = await installation.run('acme', 'content', { sessionId: 'free', agentId: 'ann' });
      await installation.archive();
      const held = [
        await installation.run('acme', 'content', { sessionId: 'held' }),
        await installation.run('secret', 'content', { agentId: 'bea' }),
      ];
      const shredded = await installation.run('secret', 'content', { agentId: 'ann' });
      await installation.archive();
      const before = await Promise.all(held.map((id) => installation.read(id)));
      const days: ArchiveDays = (_tenant, { sessionId, agentId } = {}) => (sessionId === 'held' || agentId === 'bea' ? undefined : 1);
      expect(await installation.retain(days, 2)).toBe(1);
      expect(await installation.read(gone)).toBeUndefined();
      expect(await installation.read(shredded)).toMatchObject({ call: { erased: true } });
      expect(await Promise.all(held.map((id) => installation.read(id)))).toEqual(before);
      expect(await installation.retain(() => 1, 2)).toBe(1);
      expect([await installation.read(held[0] ?? ''), await installation.faults()]).toEqual([undefined, []]);
    } finally {
      await db.destroy();
    }
  });

  const noDays: ArchiveDays = () => undefined;
  const noDaysOfCalls: ArchiveDays = (_tenant, owner) => (owner === undefined ? 1 : undefined);
  it.each([
    ['a tenant that is held while its leaf hashes are kept', /\/leaves\//, noDays, false],
    ['a tenant that is held while it is signed', /^log\/dropped\//, noDays, true],
    ['a session that is held while it is signed', /^log\/dropped\//, noDaysOfCalls, true],
  ])('deletes nothing of the archive of %s', async (_when, name, heldDays, isSigned) => {
    const installation = await open();
    const ids = [await installation.run('acme')];
    await installation.archive();
    const before = await namesOf(installation.store);
    let isHeld = false;
    const { store } = installation;
    const put: ArchiveStore['put'] = (to, bytes) => {
      isHeld ||= name.test(to);
      return store.put(to, bytes);
    };
    const policy = () => (isHeld ? heldDays : () => 1);
    expect(await installation.retain(() => 1, 2, { store: { ...bound(store), put }, policy })).toBe(0);
    const after = await namesOf(store);
    expect([isHeld, after.some((it) => it.startsWith('log/dropped/'))]).toEqual([true, isSigned]);
    expect(before.filter((it) => !after.includes(it))).toEqual([]);
    expect(await installation.faults()).toEqual([]);
    await installation.retain(() => 1, 2);
    expect(await installation.read(ids[0] ?? '')).toBeUndefined();
  });

  it('deletes no further segment once a tenant is held', async () => {
    const installation = await open();
    for (let n = 0; n < 2; n += 1) {
      await installation.run('acme');
      await installation.archive();
    }
    let isHeld = false;
    const { store } = installation;
    const remove: ArchiveStore['delete'] = (name) => {
      isHeld = true;
      return store.delete(name);
    };
    const policy = () => (isHeld ? () => undefined : () => 1);
    expect(await installation.retain(() => 1, 2, { store: { ...bound(store), delete: remove }, policy })).toBe(1);
    expect((await namesOf(store)).filter((name) => /^segments\/.*gz$/.test(name))).toHaveLength(1);
    expect(await installation.faults()).toEqual([]);
  });

  it('deletes nothing more of the archive once a tenant is held, including already signed drops', async () => {
    const installation = await open();
    const id = await installation.run('acme');
    await installation.archive();
    const events = (await namesOf(installation.store)).filter((name) => /gz$|^values/.test(name));
    const blocked: ArchiveStore = { ...bound(installation.store), delete: () => Promise.reject(new Error('stopped')) };
    await expect(installation.retain(() => 1, 2, { store: blocked })).rejects.toThrow('stopped');
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
