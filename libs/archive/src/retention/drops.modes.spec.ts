import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  Checkpointer,
  DropSigner,
  droppedSeq,
  findInGeneration,
  storeLeaves,
  lastSegment,
  verifyArchive,
  verifyCallProof,
  type Fault,
} from '#archive';
import { fillPartition, sampleCallId } from '../testing/archive-events.js';
import { dropSegments } from '../testing/drop-segments.js';
import { makeSignedArchive, type SignedArchive } from '../testing/signed-archive.js';

const FIRST = 'log/dropped/p00/g1/0000000000000180';
const SECOND = 'log/dropped/p00/g1/0000000000000270';
const DAY_MS = 24 * 3_600_000;

describe('dropped segments', () => {
  let archive: SignedArchive;

  beforeEach(async () => {
    archive = await makeSignedArchive();
  });
  afterEach(() => archive.close());

  const verified = async (callId?: string) => {
    const { store, keys, published } = archive;
    const faults: Fault[] = [];
    const report = await verifyArchive({ store, keys, published, callId, report: (fault) => faults.push(fault) });
    return { report, faults };
  };
  const faults = async () => (await verified()).faults.map(({ file, fault }) => `${file}: ${fault}`);
  const path = (name: string) => join(archive.folder, name);

  it('verifies an archive with dropped segments, with their numbers in the report', async () => {
    await dropSegments(archive, { partition: '00', toSeq: 180 });
    await dropSegments(archive, { partition: '00', toSeq: 270 });
    const { report, faults: found } = await verified();
    expect(found).toEqual([]);
    expect(report).toMatchObject({ droppedSegments: 3, droppedEvents: 270, segments: 11, events: 855, checkpoints: 4 });
    expect(
      String(await archive.store.get(FIRST))
        .split('\n')
        .slice(0, 5),
    ).toEqual([
      'example.org/archive',
      'dropped p00/g1 1 180',
      expect.stringMatching(/^root [A-Za-z0-9+/]{43}=$/),
      'time 2026-02-01T00:00:01.800Z',
      'tenant default 30',
    ]);
    expect(await archive.published.get(SECOND)).toEqual(await archive.store.get(SECOND));
  });

  it('drops all segments of a partition, whose tree continues and proves later calls', async () => {
    await dropSegments(archive, { partition: '01', toSeq: 300 });
    const previous = (await lastSegment(archive.store, '01'))!;
    await fillPartition(archive.store, { partition: '01', toSeq: 600, size: 100, previous });
    const { store, signer, published, keys } = archive;
    await new Checkpointer({ store, signer, publishTo: published, partitions: ['00', '01', '02'] }).sign(5_000_000);
    const callId = sampleCallId('01', 150);
    const { report, faults: found } = await verified(callId);
    expect(found).toEqual([]);
    expect(report).toMatchObject({ droppedEvents: 300, unsignedEvents: 0 });
    expect(verifyCallProof(JSON.stringify(report.proof), keys)).toMatchObject({ callId, whole: true });
    expect((await verified(sampleCallId('01', 4))).report.proof).toBeUndefined();
  });

  it('reports a missing segment that was not dropped', async () => {
    await rm(path('segments/p00/g1/0000000000000090.jsonl.gz'));
    expect(await faults()).toContain('segments/p00/g1/0000000000000090.jsonl.gz: is missing');
  });

  it('names dropped segments after manipulations of the statements, the hashes and further segments', async () => {
    await dropSegments(archive, { partition: '00', toSeq: 180 });
    const older = await readFile(path(FIRST));
    await dropSegments(archive, { partition: '00', toSeq: 270 });
    const newer = await readFile(path(SECOND));
    const found = async (name: string, change: () => Promise<unknown>) => {
      const before = await readFile(path(name));
      await change();
      const named = await faults();
      await writeFile(path(name), before);
      expect(await faults()).toEqual([]);
      return named;
    };
    const third = 'segments/p00/g1/0000000000000270.jsonl.gz';
    const published = `was published to ${archive.published.label}`;
    expect(await found(SECOND, () => rm(path(SECOND)))).toEqual([
      `${SECOND}: is missing, but ${published}`,
      expect.stringContaining(`${third}: is missing`),
    ]);
    expect(await found(SECOND, () => writeFile(path(SECOND), older))).toEqual([
      `${SECOND}: is the statement ${FIRST}`,
      expect.stringContaining(`${third}: is missing`),
    ]);
    const altered = newer.toString().replace('dropped p00/g1 181 270', 'dropped p00/g1 181 360');
    expect(await found(SECOND, () => writeFile(path(SECOND), altered))).toEqual([
      `${SECOND}: the signature of example.org/archive is wrong`,
      expect.stringContaining(`${third}: is missing`),
    ]);
    const more = 'segments/p00/g1/0000000000000360.jsonl.gz';
    expect(await found(more, () => rm(path(more)))).toEqual([`${more}: is missing`]);
    const leaves = 'log/p00/g1/leaves/0000000000000090';
    expect(await found(leaves, () => rm(path(leaves)))).toEqual([`${leaves}: is missing`]);
    expect(await found(leaves, async () => writeFile(path(leaves), (await readFile(path(leaves))).reverse()))).toEqual([
      `${leaves}: has other hashes than those of the segment`,
    ]);
    const manifest = 'segments/p00/g1/0000000000000180.json';
    expect(await found(manifest, () => rm(path(manifest)))).not.toEqual([]);
  });

  it('names dropped segments when their days were not over, or when the statement is of another archive', async () => {
    const { store, signer } = archive;
    const segment = (await findInGeneration(store, '01', 1, 1))!;
    await storeLeaves(store, segment);
    const early = segment.lastTime + 30 * DAY_MS - 1;
    await new DropSigner({ store, signer }).sign(
      1,
      segment,
      [
        { tenantId: 'a', days: 30 },
        { tenantId: 'b', days: 60 },
      ],
      early,
    );
    await store.delete(segment.file.name);
    expect(await faults()).toEqual([`${segment.file.name}: was dropped before the 30 days of its last event were over`]);
    const other = (await findInGeneration(store, '02', 1, 1))!;
    const foreign = { ...other, tree: { ...other.tree, root: segment.tree.root } };
    await new DropSigner({ store, signer }).sign(1, foreign, [{ tenantId: 'a', days: 1 }], Date.UTC(2030, 0, 1));
    expect(await faults()).toContain('log/dropped/p02/g1/0000000000000030: is about another tree than the archive has');
  });

  it('drops segments in steps after each of which the archive verifies', async () => {
    let steps = 0;
    const afterStep = async () => {
      steps += 1;
      expect(await faults()).toEqual([]);
    };
    await dropSegments(archive, { partition: '00', toSeq: 180, afterStep });
    expect(steps).toBe(6);
  });

  it('starts readers after dropped segments, also with a later generation that replaces some of their events', async () => {
    const { store } = archive;
    expect(await droppedSeq(store, '02')).toBe(0);
    await dropSegments(archive, { partition: '02', toSeq: 30 });
    expect(await droppedSeq(store, '02')).toBe(30);
    await dropSegments(archive, { partition: '02', toSeq: 60 });
    expect(await droppedSeq(store, '02')).toBe(45);
    await dropSegments(archive, { partition: '02', generation: 2, toSeq: 90 });
    expect(await droppedSeq(store, '02')).toBe(90);
    expect(await faults()).toEqual([]);
  });
});
