import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { findPostgres, type PostgresPrograms } from '../../apps/standalone/src/postgres/postgres-programs.js';
import { startPrivatePostgres } from '../../apps/standalone/src/postgres/private-postgres.js';

describe('a private PostgreSQL', () => {
  let root: string;
  let programs: PostgresPrograms;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'toolyard-private-'));
    const found = findPostgres(root);
    if (found === undefined) throw new Error('PostgreSQL is missing. Install it: apt-get install postgresql.');
    programs = found;
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  const start = async (folder: string) => {
    const server = await startPrivatePostgres(folder, programs, () => {});
    await server.stop();
  };

  it('starts after an initialization that was killed halfway', async () => {
    const folder = join(root, 'postgres');
    // Writes what the real one writes first, and is killed.
    const killed = join(root, 'initdb');
    writeFileSync(killed, `#!/bin/sh\nmkdir -p "$2" && echo ${programs.major} > "$2/PG_VERSION"\nkill -9 $$\n`);
    chmodSync(killed, 0o755);
    await expect(startPrivatePostgres(folder, { ...programs, initdb: killed }, () => {})).rejects.toThrow('could not create');
    await start(folder);
    expect(existsSync(join(folder, 'data/PG_VERSION'))).toBe(true);
    expect(readdirSync(folder).filter((name) => name.startsWith('unfinished-'))).toEqual([]);
  });

  it.each(['with spaces', 'more than a socket takes, '.repeat(5)])('starts in a folder named %p', async (name) => {
    const folder = join(root, name);
    mkdirSync(folder);
    await start(folder);
    expect(existsSync(join(folder, 'data/PG_VERSION'))).toBe(true);
  });
});
