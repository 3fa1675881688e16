import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sampleCallId } from '../../libs/archive/src/testing/archive-events.js';
import { makeSignedArchive, type SignedArchive } from '../../libs/archive/src/testing/signed-archive.js';
import { startCli } from '../support/cli.js';

let archive: SignedArchive;

beforeAll(async () => {
  archive = await makeSignedArchive();
});
afterAll(() => archive.close());

/** No gateway is there. */
const verify = (...words: string[]) => startCli(['verify', ...words], { url: 'http://127.0.0.1:1' }).ended();
const key = () => ['--key', archive.signer.publicKey];

describe('toolyard verify', () => {
  it('verifies an archive without a gateway, also against published checkpoints', async () => {
    const { code, out, err } = await verify(archive.folder, ...key(), '--published', archive.published.label);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toBe(
      '1125 events in 14 segments of 3 partitions; 370 calls ended, 0 open\n4 checkpoints; 0 events are not signed yet\nno fault\n',
    );
  });

  it('reports in toolyard verify that the key comes from the archive itself', async () => {
    const { code, err } = await verify(archive.folder);
    expect({ code, err }).toEqual({ code: 0, err: expect.stringContaining('Give --key') });
  });

  it('writes a proof of a call that verifies without the archive', async () => {
    const callId = sampleCallId('00', 3);
    const file = join(archive.folder, 'proof.json');
    expect(await verify(archive.folder, ...key(), '--call', callId, '--proof', file)).toMatchObject({
      code: 0,
      out: expect.stringContaining('3 events are in'),
    });
    expect(await verify(file, ...key())).toMatchObject({
      code: 0,
      out: expect.stringContaining(`call ${callId} is in the archive example.org/archive`),
    });
    await writeFile(file, (await readFile(file, 'utf8')).replace('grüße 10', 'grüße 11'));
    expect(await verify(file, ...key())).toMatchObject({
      code: 1,
      out: expect.stringContaining('event 1 of the proof is not in the signed tree'),
    });
    expect(await verify(file)).toMatchObject({ code: 2 });
    expect(await verify(archive.folder, '--call', '00-01KZ9999999999999999999999')).toMatchObject({ code: 1 });
  });

  it('reports in toolyard verify each fault with file and line, and exits with 1', async () => {
    const name = 'segments/p00/g1/0000000000000180.jsonl.gz';
    const file = join(archive.folder, name);
    const before = await readFile(file);
    await writeFile(file, gzipSync(gunzipSync(before).toString().replace('grüße 100"', 'grüße 101"')));
    const people = await verify(archive.folder, ...key());
    const json = await verify(archive.folder, ...key(), '--json');
    await writeFile(file, before);
    expect(people).toMatchObject({
      code: 1,
      out: expect.stringContaining(`FAULT  ${name}, line 10: is not the event that was sealed here`),
    });
    expect(json.out.split('\n').map((line) => line && (JSON.parse(line) as unknown))).toContainEqual({
      file: name,
      line: 10,
      fault: 'is not the event that was sealed here',
    });
  });

  it.each([
    [['/no/such/folder'], 'There is no folder /no/such/folder'],
    [['.', '--key', 'wrong'], 'Expected a public key'],
    [['s3://Bad_Bucket'], 's3://bucket'],
  ])('answers toolyard verify with %j as wrong usage', async (words, message) => {
    expect(await verify(...words)).toEqual({ code: 2, out: '', err: expect.stringContaining(message) });
  });
});
