import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { readOrMakeKey } from './api-key.js';

let directory = '';
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'toolyard-key-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const modeOf = (path: string) => statSync(path).mode & 0o777;

describe('readOrMakeKey', () => {
  it('generates a long random key that only this user can read, and reads it again', () => {
    const path = join(directory, 'key');
    const key = readOrMakeKey(path);
    expect(key).toMatch(/^ty_[A-Za-z0-9_-]{43}$/);
    expect(modeOf(path)).toBe(0o600);
    expect(readOrMakeKey(path)).toBe(key);
    expect(readOrMakeKey(join(directory, 'other'))).not.toBe(key);
  });

  it('restricts a key file that others could read', () => {
    const path = join(directory, 'key');
    writeFileSync(path, 'a-key-that-was-copied-here\n');
    chmodSync(path, 0o644);
    expect(readOrMakeKey(path)).toBe('a-key-that-was-copied-here');
    expect(modeOf(path)).toBe(0o600);
  });

  it('refuses a key that could be guessed', () => {
    const path = join(directory, 'key');
    writeFileSync(path, 'short\n');
    expect(() => readOrMakeKey(path)).toThrow(`The key in ${path} is shorter than 16 characters. Delete the file to get a new key.`);
  });
});
