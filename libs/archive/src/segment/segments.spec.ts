import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  ArchiveConflict,
  ArchiveCorrupt,
  findSegment,
  lastSegment,
  openArchive,
  readSegment,
  sealSegment,
  storeSegment,
  type ArchiveStore,
} from '#archive';
import { compressedOtherwise, fillPartition, sampleEvents } from '../testing/archive-events.js';

let folder: string;
let store: ArchiveStore;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'archive-'));
  store = await openArchive(`file://${folder}`);
});

afterEach(() => rm(folder, { recursive: true }));

const first = () => sealSegment({ partition: '07', generation: 1, epoch: 1, previous: undefined, events: sampleEvents('07', 1, 10) });

describe('a segment', () => {
  it('stores a segment as one event per line in the log’s form, with hashes that anyone can compute', () => {
    const { manifest, file, fileName, manifestName } = first();
    expect([fileName, manifestName]).toEqual(['segments/p07/g1/0000000000000010.jsonl.gz', 'segments/p07/g1/0000000000000010.json']);
    const lines = gunzipSync(file).toString().trimEnd().split('\n');
    expect(lines).toHaveLength(10);
    expect(lines).toEqual(sampleEvents('07', 1, 10).map(({ json }) => json));
    const hash = (...parts: Uint8Array[]) => createHash('sha256').update(Buffer.concat(parts)).digest();
    const chain = lines.reduce((before, line) => hash(before, hash(Buffer.from([0]), Buffer.from(line))), Buffer.alloc(32));
    expect(manifest).toMatchObject({
      version: 1,
      fromSeq: 1,
      toSeq: 10,
      count: 10,
      chain: chain.toString('hex'),
      tree: { firstSeq: 1, size: 10 },
    });
    expect(manifest.tree.root).toBe(manifest.merkleRoot);
  });

  it('computes the same hashes as earlier releases', () => {
    const events = sampleEvents('07', 1, 4_096);
    const half = sealSegment({ partition: '07', generation: 1, epoch: 1, previous: undefined, events: events.slice(0, 1_001) });
    const { manifest, text } = sealSegment({
      partition: '07',
      generation: 1,
      epoch: 1,
      previous: half.manifest,
      events: events.slice(1_001),
    });
    expect(manifest).toMatchObject({
      chain: '1cd956fd7af9b5f117b7e563a32223ac51b91e2a190e68dd62a502871addad17',
      merkleRoot: '30b025b4ae05a2b27b7cdbc1895ca0f25d5dd875f9fa8ec329ac0358a6e5212a',
      tree: { firstSeq: 1, size: 4_096, root: '0fbf05f7586a28ac20ac13a152c922930762d06ef89c3d5649bc9eb4e788b209' },
    });
    expect(createHash('sha256').update(text).digest('hex')).toBe('cec551d4366485a19695fc0cf5b173a4bb88027b386dbeacfc99337716ad18dc');
  });

  it.each([
    ['in another order', (json: string) => JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(json) as object).toReversed()))],
    ['on several lines', (json: string) => JSON.stringify(JSON.parse(json), undefined, 1)],
  ])('seals an event with its members %s', (_, change) => {
    const events = sampleEvents('07', 1, 3).map((event) => ({ ...event, json: change(event.json) }));
    const { manifest, file } = sealSegment({ partition: '07', generation: 1, epoch: 1, previous: undefined, events });
    expect(readSegment(file, manifest).map(({ seq, time }) => ({ seq, time }))).toEqual(events.map(({ seq, time }) => ({ seq, time })));
  });

  it('returns the other events of a segment that has an event that is no JSON', () => {
    const events = sampleEvents('07', 1, 3).map((event) => (event.seq === 2 ? { ...event, json: event.json.slice(0, -1) } : event));
    const { manifest, file } = sealSegment({ partition: '07', generation: 1, epoch: 1, previous: undefined, events });
    expect(readSegment(file, manifest)).toEqual(events);
  });

  it('returns the events of a segment unchanged', () => {
    const { manifest, file } = first();
    const events = readSegment(file, manifest);
    expect(events.map(({ seq, time }) => ({ seq, time }))).toEqual(sampleEvents('07', 1, 10).map(({ seq, time }) => ({ seq, time })));
    expect(events.map(({ json }) => JSON.parse(json))).toEqual(sampleEvents('07', 1, 10).map(({ json }) => JSON.parse(json)));
  });

  it('stores the same bytes of a segment for the same events', () => {
    expect(first()).toEqual(first());
  });

  it.each([
    ['a lone surrogate', '"\\ud800"'],
    ['values nested 5,000 deep', '['.repeat(5_000) + ']'.repeat(5_000)],
    ['the key __proto__', '{"__proto__":{"b":1,"a":2}}'],
  ])('stores %s in a segment', (_, text) => {
    const [event] = sampleEvents('07', 1, 1);
    const json = event!.json.replace('"data":{', `"data":{"hostile":${text},`);
    const { manifest, file } = sealSegment({
      partition: '07',
      generation: 1,
      epoch: 1,
      previous: undefined,
      events: [{ ...event!, json }],
    });
    expect(readSegment(file, manifest)[0]?.json).toContain(text.slice(0, 12));
  });

  it.each([
    ['a hole', () => [...sampleEvents('07', 11, 12), ...sampleEvents('07', 14, 15)], 'Expected event 13, got 14'],
    ['events that do not follow the segment before', () => sampleEvents('07', 12, 15), 'Expected event 11 of generation 1, got event 12'],
    ['events of another partition', () => sampleEvents('08', 11, 15), 'is the event 1.8.11, expected 1.7.11'],
    ['events of another epoch', () => sampleEvents('07', 11, 15, { epoch: 2 }), 'is the event 2.7.11, expected 1.7.11'],
    [
      'an event of another time',
      () => sampleEvents('07', 11, 15).map((event) => ({ ...event, time: event.time + 1 })),
      'Event 11 of partition 07 has the time',
    ],
    ['no event', () => [], 'A segment has 1 to 4096 events, got 0'],
  ])('refuses to seal a segment with %s', (_, events, message) => {
    expect(() => sealSegment({ partition: '07', generation: 1, epoch: 1, previous: first().manifest, events: events() })).toThrow(message);
  });

  it.each([
    ['a changed bit', (file: Buffer) => Buffer.from(file.map((byte, index) => (index === 100 ? byte ^ 1 : byte))), 'has the SHA-256'],
    ['a cut file', (file: Buffer) => file.subarray(0, -1), 'bytes, its manifest says'],
  ])('refuses to read a segment with %s', (_, change, message) => {
    const { manifest, file } = first();
    expect(() => readSegment(change(file), manifest)).toThrow(message);
    expect(() => readSegment(change(file), manifest)).toThrow(ArchiveCorrupt);
  });
});

describe('storeSegment', () => {
  it('repeats storing a segment after a crash, with or without the manifest', async () => {
    await store.put(first().fileName, first().file);
    await storeSegment(store, first());
    expect(await storeSegment(store, first())).toEqual(first().manifest);
    expect(await lastSegment(store, '07')).toEqual(first().manifest);
  });

  it('adopts a file of the same events that another compressor wrote before a crash', async () => {
    const other = compressedOtherwise(first(), gunzipSync(first().file));
    await store.put(first().fileName, other);
    const stored = await storeSegment(store, first());
    expect(stored.file.bytes).toBe(other.length);
    expect({ ...stored, file: undefined }).toEqual({ ...first().manifest, file: undefined });
    expect(await lastSegment(store, '07')).toEqual(stored);
  });

  it('refuses the name of a segment that has other events, as after a failover', async () => {
    const lost = sealSegment({
      partition: '07',
      generation: 1,
      epoch: 1,
      previous: undefined,
      events: sampleEvents('07', 1, 10, { note: 'lost' }),
    });
    await store.put(lost.fileName, lost.file);
    await expect(storeSegment(store, first())).rejects.toThrow(ArchiveConflict);
    expect(await lastSegment(store, '07')).toBeUndefined();
    const next = sealSegment({
      partition: '07',
      generation: 2,
      epoch: 2,
      previous: undefined,
      events: sampleEvents('07', 1, 10, { epoch: 2 }),
    });
    await storeSegment(store, next);
    expect(await findSegment(store, '07', 5)).toEqual(next.manifest);
  });

  it.each(['.jsonl.gz', '.json'])('fails to store a segment if the store returns another %s', async (suffix) => {
    const lying: ArchiveStore = {
      label: 'lying',
      put: (name, bytes) => store.put(name, bytes),
      list: (prefix, options) => store.list(prefix, options),
      delete: (name) => store.delete(name),
      get: async (name) => {
        const bytes = await store.get(name);
        return name.endsWith(suffix) ? bytes?.subarray(0, -1) : bytes;
      },
    };
    await expect(storeSegment(lying, first())).rejects.toThrow(/0000000000000010/);
  });
});

describe('finding segments', () => {
  it('finds the segment of any sequence number, the first after a gap, and none after the end', async () => {
    await fillPartition(store, { partition: '07', toSeq: 95, size: 10 });
    for (const [seq, toSeq] of [
      [1, 10],
      [10, 10],
      [11, 20],
      [95, 95],
      [91, 95],
    ] as const)
      expect((await findSegment(store, '07', seq))?.toSeq).toBe(toSeq);
    expect(await findSegment(store, '07', 96)).toBeUndefined();
    expect(await findSegment(store, '08', 1)).toBeUndefined();
    await store.delete('segments/p07/g1/0000000000000010.json');
    expect((await findSegment(store, '07', 3))?.toSeq).toBe(20);
    expect((await lastSegment(store, '07'))?.toSeq).toBe(95);
  });

  it('skips files without manifests', async () => {
    await fillPartition(store, { partition: '07', toSeq: 10, size: 10 });
    for (let seq = 11; seq < 40; seq++) await store.put(`segments/p07/g1/00000000000000${seq}.jsonl.gz`, Buffer.from('x'));
    expect(await findSegment(store, '07', 11)).toBeUndefined();
    expect((await lastSegment(store, '07'))?.toSeq).toBe(10);
    await fillPartition(store, { partition: '07', toSeq: 60, size: 50, previous: (await lastSegment(store, '07'))! });
    expect((await findSegment(store, '07', 11))?.toSeq).toBe(60);
  });

  it('reads the newest generation that has the number', async () => {
    const last = await fillPartition(store, { partition: '07', toSeq: 30, size: 10 });
    const events = sampleEvents('07', 15, 40, { epoch: 2 });
    const lost = sealSegment({ partition: '07', generation: 2, epoch: 2, previous: last, events });
    await storeSegment(store, lost);
    expect(lost.manifest).toMatchObject({ prevChain: last?.chain, tree: { firstSeq: 15, size: 26 } });
    const found = await Promise.all([5, 14, 15, 40, 41].map((seq) => findSegment(store, '07', seq)));
    expect(found.map((manifest) => manifest && `${manifest.generation}:${manifest.toSeq}`)).toEqual([
      '1:10',
      '1:20',
      '2:40',
      '2:40',
      undefined,
    ]);
    expect(await lastSegment(store, '07')).toEqual(lost.manifest);
  });
});
