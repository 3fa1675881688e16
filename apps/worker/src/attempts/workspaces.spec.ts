import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
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

  it('make the directory of a session once for calls that come at the same time', async () => {
    const workspaces = new Workspaces(folder);
    const [one, other] = await Promise.all([workspaces.resolve(META), workspaces.resolve(META)]);
    expect(one).toBe(other);
    expect(one?.root).toBe(join(folder, 'acme/sessions/s1'));
    expect(statSync(one?.root ?? '').mode & 0o777).toBe(0o700);
  });

  it('try again for the next call where the directory could not be made', async () => {
    const workspaces = new Workspaces(folder);
    writeFileSync(join(folder, 'acme'), 'a file where the tenant has its folder');
    await expect(workspaces.resolve(META)).rejects.toThrow('ENOTDIR');
    rmSync(join(folder, 'acme'));
    expect((await workspaces.resolve(META)).root).toBe(join(folder, 'acme/sessions/s1'));
  });
});
