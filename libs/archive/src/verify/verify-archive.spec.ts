import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { verifyArchive, verifyCallProof, type Fault } from '#archive';
import { sampleCallId } from '../testing/archive-events.js';
import { manipulations } from '../testing/manipulations.js';
import { makeSignedArchive, type SignedArchive } from '../testing/signed-archive.js';

let archive: SignedArchive;

beforeAll(async () => {
  archive = await makeSignedArchive();
});

afterAll(() => archive.close());

async function faultsOf({ store, keys, published }: SignedArchive = archive): Promise<Fault[]> {
  const faults: Fault[] = [];
  await verifyArchive({ store, keys, published, report: (fault) => faults.push(fault) });
  return faults;
}

describe('verifyArchive', () => {
  it('finds no fault in a sealed and signed archive', async () => {
    const { store, keys } = archive;
    const faults: Fault[] = [];
    const report = await verifyArchive({ store, keys, report: (fault) => faults.push(fault) });
    expect(faults).toEqual([]);
    expect(report).toMatchObject({
      faults: 0,
      partitions: 3,
      segments: 14,
      events: 1125,
      checkpoints: 4,
      unsignedEvents: 0,
      keyFromArchive: false,
    });
  });

  it('uses and reports the key in the archive if none is given', async () => {
    const report = await verifyArchive({ store: archive.store, report: () => {} });
    expect(report).toMatchObject({ faults: 0, keyFromArchive: true });
  });

  it('names random manipulations of an archive', async () => {
    const all = await archive.store.list('');
    await fc.assert(
      fc.asyncProperty(manipulations(all), async (manipulation) => {
        await manipulation.apply(archive.folder);
        const faults = await faultsOf();
        await manipulation.undo(archive.folder);
        expect(faults).not.toEqual([]);
      }),
      { numRuns: 25 },
    );
  });

  it('names an archive that was made again from other events, whether its checkpoints are new ones or the old', async () => {
    const forged = await makeSignedArchive({ note: 'another story' });
    expect(await faultsOf(forged)).toEqual([]);
    const asTheRealOne = { ...forged, keys: archive.keys };
    expect(await faultsOf(asTheRealOne)).toContainEqual({
      file: 'log/checkpoint/0000000000000001',
      fault: expect.stringContaining('no known key signed it'),
    });

    for (const folder of ['log/checkpoint', 'log/key'])
      await cp(join(archive.folder, folder), join(forged.folder, folder), { recursive: true });
    const faults = await faultsOf({ ...asTheRealOne, published: archive.published });
    await forged.close();
    for (const tree of ['p00/g1', 'p01/g1', 'p02/g1', 'p02/g2']) expect(faults.filter(({ fault }) => fault.includes(tree))).not.toEqual([]);
  });

  it('proves a call to readers who have the public key alone', async () => {
    const { store, keys } = archive;
    const callId = sampleCallId('01', 42);
    const { proof } = await verifyArchive({ store, keys, callId, report: () => {} });
    const text = JSON.stringify(proof);
    expect(verifyCallProof(text, keys)).toMatchObject({
      callId,
      archive: 'example.org/archive',
      signedAt: new Date(4_000_000),
      whole: true,
    });
    for (const [from, to] of [
      ['grüße 127', 'grüße 128'],
      ['"index":127', '"index":128'],
      [callId, sampleCallId('01', 43)],
      ['1970', '1971'],
    ] as const)
      expect(() => verifyCallProof(text.replace(from, to), keys)).toThrow(/event \d of the proof|signature|is not a proof/);
    expect(() => verifyCallProof(text, [])).toThrow('no known key');
  });
});
