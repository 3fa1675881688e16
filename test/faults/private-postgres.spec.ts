import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { findPostgres, npmPrograms, type PostgresPrograms } from '../../apps/standalone/src/postgres/postgres-programs.js';
import { startPrivatePostgres } from '../../apps/standalone/src/postgres/private-postgres.js';
import { eventually } from '../support/eventually.js';
import { isRunning } from '../support/standalone.js';

const UNPRIVILEGED_UID = 65_534;
/** Root may run as any user; others only as themselves. */
const USERS = process.getuid?.() === 0 ? [0, UNPRIVILEGED_UID] : [process.getuid?.() ?? 0];

/** Starts the PostgreSQL of npm in the folder that it is given, and prints its process id. */
const SERVE = `
import { npmPrograms } from './dist/apps/standalone/src/postgres/postgres-programs.js';
import { startPrivatePostgres } from './dist/apps/standalone/src/postgres/private-postgres.js';
const folder = process.argv[1];
const server = await startPrivatePostgres(folder, npmPrograms(folder)[0], () => {});
console.log(server.pid);`;

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'toolyard-private-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const start = async (folder: string, programs: PostgresPrograms) => {
  const server = await startPrivatePostgres(folder, programs, () => {});
  await server.stop();
};

describe.each([
  ['that is found first', findPostgres],
  ['of npm', (folder: string) => npmPrograms(folder)[0]],
])('a private PostgreSQL %s', (_which, find) => {
  const programsFor = (folder: string): PostgresPrograms => {
    const found = find(folder);
    if (found === undefined) throw new Error('PostgreSQL is missing. Install the optional packages: npm ci.');
    return found;
  };

  it('starts a private PostgreSQL after an initialization that was killed halfway', async () => {
    const folder = join(root, 'postgres');
    const programs = programsFor(folder);
    // Writes what the real one writes first, and is killed.
    const killed = join(root, 'initdb');
    writeFileSync(killed, `#!/bin/sh\nmkdir -p "$2" && echo ${programs.major} > "$2/PG_VERSION"\nkill -9 $$\n`);
    chmodSync(killed, 0o755);
    await expect(startPrivatePostgres(folder, { ...programs, initdb: killed }, () => {})).rejects.toThrow('could not create');
    await start(folder, programs);
    expect(existsSync(join(folder, 'data/PG_VERSION'))).toBe(true);
    expect(readdirSync(folder).filter((name) => name.startsWith('unfinished-'))).toEqual([]);
  });

  it.each(['with spaces', 'more than a socket takes, '.repeat(5)])('starts a private PostgreSQL in a folder named %p', async (name) => {
    const folder = join(root, name);
    mkdirSync(folder);
    await start(folder, programsFor(folder));
    expect(existsSync(join(folder, 'data/PG_VERSION'))).toBe(true);
  });
});

it('starts a private PostgreSQL with programs in a folder that only its user may open', async () => {
  const [npm] = npmPrograms(root);
  if (npm === undefined) throw new Error('PostgreSQL is missing. Install the optional packages: npm ci.');
  const home = mkdtempSync(join(root, 'home-'));
  const native = join(home, 'native');
  cpSync(dirname(dirname(npm.postgres)), native, { recursive: true, verbatimSymlinks: true });
  await start(join(home, 'postgres'), { ...npm, postgres: join(native, 'bin/postgres'), initdb: join(native, 'bin/initdb') });
  expect(existsSync(join(home, 'postgres/data/PG_VERSION'))).toBe(true);
});

describe.each(USERS)('a private PostgreSQL of the user %i', (uid) => {
  it('ends a private PostgreSQL when the process that started it is killed', async () => {
    const folder = join(root, 'postgres');
    mkdirSync(folder, { mode: 0o700 });
    for (const path of [root, folder]) chownSync(path, uid, uid);
    const owner = spawn(process.execPath, ['--input-type=module', '-e', SERVE, folder], {
      uid,
      gid: uid,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [printed] = (await once(owner.stdout, 'data')) as [Buffer];
    const pid = Number(printed);
    expect(isRunning(pid)).toBe(true);
    owner.kill('SIGKILL');
    await eventually(() => !isRunning(pid), 'PostgreSQL to end');
    expect(existsSync(join(folder, 'data/postmaster.pid'))).toBe(false);
  });
});
