import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { openDataDirectory, type DataDirectory } from './data-directory.js';
import { lockDirectory } from './directory-lock.js';
import { processIdentity } from './process-identity.js';

let path = '';
let directory: DataDirectory;
beforeEach(() => {
  path = mkdtempSync(join(tmpdir(), 'toolyard-lock-'));
  directory = openDataDirectory(path);
});
afterEach(() => rmSync(path, { recursive: true, force: true }));

const locksLeft = () => readdirSync(path).filter((name) => name.startsWith('lock'));

describe('lockDirectory', () => {
  it('locks a directory once, and unlocks it by a release that may be called twice', () => {
    const release = lockDirectory(directory);
    expect(() => lockDirectory(directory)).toThrow(`Another Toolyard (process ${process.pid}) is running on ${path}.`);
    release();
    release();
    lockDirectory(directory)();
    expect(locksLeft()).toEqual([]);
  });

  it('refuses a directory while another running process holds the lock', () => {
    const child = spawn('sleep', ['60'], { stdio: 'ignore' });
    try {
      writeFileSync(directory.lock, JSON.stringify({ pid: child.pid, identity: processIdentity(child.pid ?? 0) }));
      expect(() => lockDirectory(directory)).toThrow(`process ${child.pid}`);
      expect(locksLeft()).toEqual(['lock']);
    } finally {
      child.kill('SIGKILL');
    }
  });

  it('takes over the directory lock of an ended process, also if its pid is in use again', () => {
    writeFileSync(directory.lock, JSON.stringify({ pid: process.pid, identity: 'an-earlier-boot:1' }));
    const release = lockDirectory(directory);
    expect(existsSync(directory.lock)).toBe(true);
    release();
    expect(locksLeft()).toEqual([]);
  });

  it('takes over a half-written directory lock', () => {
    writeFileSync(directory.lock, '{"pid":');
    lockDirectory(directory)();
    expect(locksLeft()).toEqual([]);
  });

  it('releases no lock of another process', () => {
    const release = lockDirectory(directory);
    writeFileSync(directory.lock, JSON.stringify({ pid: 1, identity: 'another' }));
    release();
    expect(locksLeft()).toEqual(['lock']);
  });
});

describe('processIdentity', () => {
  it('returns a constant and unique identity of a process, and undefined for a missing process', async () => {
    const child = spawn('sleep', ['60'], { stdio: 'ignore' });
    const pid = child.pid ?? 0;
    expect(processIdentity(process.pid)).toBe(processIdentity(process.pid));
    expect(processIdentity(pid)).not.toBe(processIdentity(process.pid));
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
    expect(processIdentity(pid)).toBeUndefined();
  });
});
