import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Checkpointer, ensureSigningKey, lastSegment, parsePublicKey, readSigningKey, verifyArchive, type ArchiveStore } from '#archive';
import { fillPartition } from '../testing/archive-events.js';
import { makeSignedArchive, type SignedArchive } from '../testing/signed-archive.js';
import { openNote } from './signed-note.js';

let archive: SignedArchive;

beforeEach(async () => {
  archive = await makeSignedArchive();
});
afterEach(() => archive.close());

const another = () => new Checkpointer({ store: archive.store, signer: archive.signer, partitions: ['00', '01', '02'] });
const seal = async (toSeq: number) =>
  fillPartition(archive.store, { partition: '01', toSeq, size: 10, previous: (await lastSegment(archive.store, '01'))! });

describe('a checkpoint', () => {
  it('signs a checkpoint as a note over the trees of all partitions, in the form of a transparency log', async () => {
    const note = String(await archive.store.get('log/checkpoint/0000000000000004'));
    const lines = openNote(note, archive.keys).split('\n');
    const { tree } = (await lastSegment(archive.store, '01'))!;
    expect(lines.slice(0, 2)).toEqual(['example.org/archive', '4']);
    expect(lines[2]).toMatch(/^[A-Za-z0-9+/]{43}=$/);
    expect(lines[3]).toBe('time 1970-01-01T01:06:40.000Z');
    expect(lines.slice(4)).toEqual([
      expect.stringMatching(/^p00\/g1 720 /),
      `p01/g1 300 ${Buffer.from(tree.root, 'hex').toString('base64')}`,
      expect.stringMatching(/^p02\/g1 60 /),
      expect.stringMatching(/^p02\/g2 45 /),
      '',
    ]);
    expect(await archive.published.get('log/checkpoint/0000000000000004')).toEqual(Buffer.from(note));
  });

  it('publishes no checkpoint if nothing was sealed since the last one', async () => {
    expect(await archive.checkpointer.sign()).toBeUndefined();
    expect(await another().sign()).toBeUndefined();
  });

  it('makes one checkpoint when two processes sign at the same time, and each continues after the other', async () => {
    await seal(310);
    const made = await Promise.all([archive.checkpointer.sign(), another().sign()]);
    expect(made.filter((checkpoint) => checkpoint !== undefined)).toHaveLength(1);
    await seal(320);
    expect((await another().sign())?.number).toBe(6);
    await seal(330);
    expect((await archive.checkpointer.sign())?.number).toBe(7);
  });

  it('completes a checkpoint after a kill before or after any of its writes, and the archive verifies', async () => {
    const { store, published, signer, keys } = archive;
    let isKilled = true;
    for (let write = 1; isKilled; write += 1) {
      for (const isWritten of [false, true]) {
        const previous = (await lastSegment(store, '01'))!;
        // Events for a tile of hashes, which is one of the writes.
        await fillPartition(store, { partition: '01', toSeq: previous.toSeq + 256, size: 256, previous });
        const count = { left: write };
        const dying = new Checkpointer({
          store: killedAt(store, count, isWritten),
          publishTo: killedAt(published, count, isWritten),
          signer,
          partitions: ['00', '01', '02'],
        });
        isKilled = await dying.sign().then(
          () => false,
          (error: unknown) => String(error).includes('killed'),
        );
        await archive.checkpointer.sign();
        const faults: unknown[] = [];
        const report = await verifyArchive({ store, keys, published, report: (fault) => faults.push(fault) });
        expect([write, isWritten, faults, report.unsignedEvents]).toEqual([write, isWritten, [], 0]);
      }
    }
  });

  it('publishes a checkpoint later when the second store was away', async () => {
    await seal(310);
    await another().sign();
    expect(await archive.published.get('log/checkpoint/0000000000000005')).toBeUndefined();
    await archive.checkpointer.sign();
    expect(await archive.published.get('log/checkpoint/0000000000000005')).toBeDefined();
  });
});

describe('nothing is signed', () => {
  it('signs nothing if the archive lost a published checkpoint', async () => {
    await archive.store.delete('log/checkpoint/0000000000000004');
    await seal(310);
    await expect(archive.checkpointer.sign()).rejects.toThrow('log/checkpoint/0000000000000004: was published');
  });

  it('signs nothing if a signed segment was replaced', async () => {
    for (const suffix of ['.json', '.jsonl.gz']) await archive.store.delete(`segments/p01/g1/0000000000000300${suffix}`);
    await fillPartition(archive.store, { partition: '01', toSeq: 310, size: 110, previous: (await lastSegment(archive.store, '01'))! });
    await expect(another().sign()).rejects.toThrow('is not the tree of 300 events that the last checkpoint signed');
  });

  it('signs nothing if a new segment was changed', async () => {
    await seal(310);
    const file = join(archive.folder, 'segments/p01/g1/0000000000000310.jsonl.gz');
    const bytes = await readFile(file);
    await writeFile(file, bytes.fill(0, bytes.length - 4));
    await expect(another().sign()).rejects.toThrow('0000000000000310.jsonl.gz: has the SHA-256');
  });
});

describe('the signing key', () => {
  it('makes the signing key once, readable by its owner alone', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'key-'));
    const file = join(folder, 'data', 'archive-key');
    await ensureSigningKey(file);
    const { publicKey } = await readSigningKey(file);
    await ensureSigningKey(file);
    expect((await readSigningKey(file)).publicKey).toBe(publicKey);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(parsePublicKey(publicKey).name).toMatch(/^toolyard\/[0-9a-f]{8}$/);
    await rm(folder, { recursive: true });
  });
});

/** Store that fails when no write is left, before or after the write. */
function killedAt(store: ArchiveStore, count: { left: number }, isWritten: boolean): ArchiveStore {
  return {
    label: store.label,
    get: (name) => store.get(name),
    list: (prefix, options) => store.list(prefix, options),
    delete: (name) => store.delete(name),
    put: async (name, bytes) => {
      count.left -= 1;
      if (count.left > 0) return store.put(name, bytes);
      if (isWritten) await store.put(name, bytes);
      throw new Error('killed');
    },
  };
}
