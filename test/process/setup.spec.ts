import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

let project = '';
const isRoot = process.getuid?.() === 0;
/** Runs the script as root, so that ordinary users also test this case; its programs are those of the PATH. */
const AS_ROOT = { NODE_OPTIONS: '--import=data:text/javascript,process.getuid=()=>0' };

/** A project with the real script, and a PATH that holds nothing but node, sh and what a test puts there. */
beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), 'toolyard-setup-'));
  chmodSync(project, 0o755);
  mkdirSync(join(project, 'bin'));
  mkdirSync(join(project, 'apps/standalone'), { recursive: true });
  copyFileSync('apps/standalone/setup.mjs', join(project, 'apps/standalone/setup.mjs'));
  writeLock('package-lock.json', {
    '': {},
    'node_modules/a': { version: '1.0.0' },
    'node_modules/b': { version: '1.0.0', optional: true },
  });
  writeLock('node_modules/.package-lock.json', { 'node_modules/a': { version: '1.0.0' } });
  program('sh', '', '/bin/sh');
});
afterEach(() => rmSync(project, { recursive: true, force: true }));

function writeLock(path: string, packages: Record<string, object>): void {
  mkdirSync(dirname(join(project, path)), { recursive: true });
  writeFileSync(join(project, path), JSON.stringify({ packages }));
}

/** A program on the PATH: a link to `target`, or a script that notes its arguments in the file `calls` and then runs `body`. */
function program(name: string, body = '', target?: string): void {
  const path = join(project, 'bin', name);
  if (target) return symlinkSync(target, path);
  writeFileSync(path, `#!/bin/sh\necho "${name} $*" >>${project}/calls\n${body}\n`, { mode: 0o755 });
}

/** An apt-get that puts an empty program there for each package. */
function aptGet(): void {
  program(
    'apt-get',
    `for word; do case $word in redis-server) to=redis-server;; ripgrep) to=rg;; bubblewrap) to=bwrap;; *) continue;; esac; printf '#!/bin/sh\\n' >${project}/bin/$to; /bin/chmod 755 ${project}/bin/$to; done`,
  );
}

function setUp(env: Record<string, string> = {}, uid?: number) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(project, 'apps/standalone/setup.mjs')], {
    encoding: 'utf8',
    env: { PATH: join(project, 'bin'), ...env },
    ...(uid === undefined ? {} : { uid }),
  });
  const calls = existsSync(join(project, 'calls')) ? readFileSync(join(project, 'calls'), 'utf8').trimEnd().split('\n') : [];
  return { status, said: `${stdout}${stderr}`, calls };
}

function allPrograms(): void {
  for (const name of ['redis-server', 'rg', 'bwrap']) program(name);
}

describe('setup', () => {
  it('prints and installs nothing in setup if nothing is missing', () => {
    allPrograms();
    expect(setUp()).toEqual({ status: 0, said: '', calls: [] });
  });

  it('accepts a Valkey server in setup, and no server if REDIS_URL names one', () => {
    for (const name of ['rg', 'bwrap']) program(name);
    expect(setUp({ REDIS_URL: 'redis://127.0.0.1:6379' })).toEqual({ status: 0, said: '', calls: [] });
    program('valkey-server');
    expect(setUp()).toEqual({ status: 0, said: '', calls: [] });
  });

  it('runs npm ci in setup when an installed package has another version than package-lock.json names', () => {
    allPrograms();
    program('npm');
    writeLock('node_modules/.package-lock.json', { 'node_modules/a': { version: '0.9.0' } });
    expect(setUp()).toMatchObject({ status: 0, calls: ['npm ci --no-audit --no-fund --no-progress --loglevel=error'] });
  });

  it('stops the start when npm ci fails', () => {
    allPrograms();
    program('npm', 'exit 1');
    rmSync(join(project, 'node_modules'), { recursive: true });
    const { status, said } = setUp();
    expect(status).toBe(1);
    expect(said).toContain('`npm ci` failed; what it said is above.');
  });

  it('lists as root the missing packages in setup, installs them with apt-get, and starts no service', () => {
    program('rm', '', '/bin/rm');
    program('chmod', '', '/bin/chmod');
    aptGet();
    const policyBefore = existsSync('/usr/sbin/policy-rc.d');
    const { status, said, calls } = setUp(AS_ROOT);
    expect(said).toContain('redis-server or valkey-server: the event log and the queues');
    expect(said).toContain('rg: searching files (without it file_search and glob are unavailable)');
    const quiet = 'apt-get -qq -o Dpkg::Use-Pty=0';
    expect(calls).toEqual([`${quiet} update`, `${quiet} install -y --no-install-recommends redis-server ripgrep bubblewrap`]);
    expect(status).toBe(0);
    expect(existsSync('/usr/sbin/policy-rc.d')).toBe(policyBefore);
  });

  it('prints the command for setup without root and without a terminal, and fails without a Redis server', () => {
    program('apt-get');
    const { status, said, calls } = setUp({}, isRoot ? 65_534 : undefined);
    expect(calls).toEqual([]);
    expect(said).toContain("sudo sh -c 'apt-get update && apt-get install -y --no-install-recommends redis-server ripgrep bubblewrap'");
    expect(said).toContain('There is no redis-server or valkey-server.');
    expect(status).toBe(1);
  });

  it('continues setup without ripgrep and bubblewrap, and reports what is unavailable', () => {
    program('redis-server');
    program('apt-get');
    const { status, said } = setUp({}, isRoot ? 65_534 : undefined);
    expect(said).toContain('shell commands run without isolation');
    expect(status).toBe(0);
  });

  it('installs nothing in setup with TOOLYARD_SETUP=no', () => {
    aptGet();
    program('npm');
    rmSync(join(project, 'node_modules'), { recursive: true });
    expect(setUp({ TOOLYARD_SETUP: 'no' })).toEqual({ status: 0, said: '', calls: [] });
  });
});
