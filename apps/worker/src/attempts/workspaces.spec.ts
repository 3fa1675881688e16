import { lstatSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Workspaces } from './workspaces.js';

const META = { tenantId: 'acme', sessionId: 's1' };

describe('workspaces', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'toolyard-workspaces-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('creates the directory of a session once for concurrent calls', async () => {
    const workspaces = new Workspaces(folder);
    const [one, other] = await Promise.all([workspaces.resolve(META), workspaces.resolve(META)]);
    expect(one).toBe(other);
    expect(one?.root).toBe(join(folder, 'acme/sessions/s1'));
    expect(statSync(one?.root ?? '').mode & 0o777).toBe(0o700);
  });

  it('retries for the next call when the directory of a session could not be created', async () => {
    const workspaces = new Workspaces(folder);
    writeFileSync(join(folder, 'acme'), 'a file where the tenant has its folder');
    await expect(workspaces.resolve(META)).rejects.toThrow('ENOTDIR');
    rmSync(join(folder, 'acme'));
    expect((await workspaces.resolve(META)).root).toBe(join(folder, 'acme/sessions/s1'));
  });

  it('gives a workspace with its files to the user of the commands, and takes it back', async () => {
    const path = join(folder, 'acme/sessions/s1');
    mkdirSync(path, { recursive: true });
    writeFileSync(join(path, 'earlier'), '');
    symlinkSync('/etc/passwd', join(path, 'link'));
    const owners = () => [path, join(path, 'earlier'), join(path, 'link'), '/etc/passwd'].map((each) => lstatSync(each).uid);
    const [own, passwd] = [process.getuid?.(), lstatSync('/etc/passwd').uid];
    // Root alone may change the owner of files; else they stay those of the worker.
    const user = own === 0 ? 1_900_000_000 : own;
    await new Workspaces(folder, undefined, undefined, { userOf: () => user }).resolve(META);
    expect(owners()).toEqual([user, user, user, passwd]);
    await new Workspaces(folder, undefined, undefined, { userOf: () => undefined }).resolve(META);
    expect(owners()).toEqual([own, own, own, passwd]);
  });
});
