import { randomBytes } from 'node:crypto';
import { closeSync, ftruncateSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { partitionOf, keys } from '#redis';
import { readPosition, requestErase } from '#sealing';
import { ArchivedInstallation } from '../support/archived-installation.js';
import { eventually } from '../support/eventually.js';
import { startTestCluster, type AppProcess, type TestCluster } from '../support/test-cluster.js';

/** A file system of 2 MB in a namespace of the process, which any user may make. */
const SMALL = ['unshare', '--map-root-user', '--mount', 'sh', '-c', 'mount -t tmpfs -o size=2m none "$0" && exec "$@"'];
const LEFT_BYTES = 200_000;
const CALLS = 4;

/** Large values of half of the calls fit into what is left of the file system. */
describe('an archive whose file system is full', () => {
  let folder: string;
  let keyFolder: string;
  let cluster: TestCluster;
  let projector: AppProcess;
  let installation: ArchivedInstallation;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'toolyard-full-'));
    keyFolder = mkdtempSync(join(tmpdir(), 'toolyard-full-key-'));
    // Unchecked: the archive is gone with the mount namespace of the projector.
    cluster = await startTestCluster({ gateways: 0, workers: 0, checked: false });
    const keyFile = join(keyFolder, 'key');
    // Starts no database, whose socket may belong to a user that the namespace does not have.
    const env = { ARCHIVE_URL: `file://${folder}`, ARCHIVE_SIGNING_KEY_FILE: keyFile, PARTITIONS: '1', DATABASE_URL: '' };
    projector = await cluster.projector(env, [...SMALL, folder]);
    const archiveUrl = `file:///proc/${projector.child.pid}/root${folder}`;
    installation = await ArchivedInstallation.open({ redisUrl: cluster.redis.url, partitions: 1, archiveUrl, keyFile });
  });
  afterAll(async () => {
    await installation?.close();
    await cluster?.close();
    for (const it of [folder, keyFolder]) rmSync(it, { recursive: true, force: true });
  });

  const metric = async (name: string) => {
    const text = await (await fetch(`${projector.url}/metrics`)).text();
    return Number(new RegExp(`^${name} (\\S+)`, 'm').exec(text)?.[1]);
  };
  const failures = () => metric('toolyard_archive_failures_total');

  it('stops sealing while the archive is full, keeps everything in Redis, reports it, and continues when there is room', async () => {
    const ballast = `/proc/${projector.child.pid}/root${folder}/.ballast`;
    fill(ballast);
    const ids: string[] = [];
    for (let n = 0; n < CALLS; n += 1) ids.push(await installation.run('acme', randomBytes(3).toString('hex')));
    const before = await Promise.all(ids.map((id) => installation.read(id)));
    const partition = partitionOf(ids[0] ?? '');
    const entries = await installation.redis.xlen(keys.log(partition));
    // Requests what an erasure needs: these events are archived at once.
    await requestErase(installation.redis, partition, entries);

    await eventually(async () => (await failures()) > 0, 'a round to fail');
    const failed = await failures();
    await eventually(async () => (await failures()) > failed, 'a later round to fail');
    expect(projector.log()).toContain(`The file system of the archive ${folder} is full. Make room`);
    const ready = await fetch(`${projector.url}/readyz`);
    expect([ready.status, await ready.text()]).toEqual([503, expect.stringContaining('is full')]);
    expect(await readPosition(installation.redis, partition)).toMatchObject({ sealedSeq: 0, trimmedSeq: 0 });
    expect(await installation.redis.xlen(keys.log(partition))).toBe(entries);
    expect(await Promise.all(ids.map((id) => installation.read(id)))).toEqual(before);

    rmSync(ballast);
    const sealed = async () => (await readPosition(installation.redis, partition)).sealedSeq === entries;
    await eventually(sealed, () => `the log to be sealed: ${projector.log()}`);
    await eventually(async () => (await fetch(`${projector.url}/readyz`)).ok, 'the projector to be ready');
    await installation.archive();
    expect(await installation.redis.xlen(keys.log(partition))).toBe(0);
    expect(await Promise.all(ids.map((id) => installation.read(id)))).toEqual(before);
    expect(await metric('toolyard_archive_events_total')).toBe(entries);
    expect(await installation.faults()).toEqual([]);
  });
});

/** Leaves `LEFT_BYTES` of the file system. */
function fill(path: string): void {
  const file = openSync(path, 'w');
  const block = Buffer.alloc(LEFT_BYTES);
  let written = 0;
  for (let last = block.length; last === block.length; written += last) last = writeUnlessFull(file, block);
  ftruncateSync(file, written - LEFT_BYTES);
  closeSync(file);
}

function writeUnlessFull(file: number, block: Buffer): number {
  try {
    return writeSync(file, block);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOSPC') return 0;
    throw error;
  }
}
