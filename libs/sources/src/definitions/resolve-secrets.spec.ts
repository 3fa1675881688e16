import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { FolderTool } from '#contracts';
import { resolveSecret } from './resolve-secrets.js';

it('refuses a secret file that is no regular file, and a large one before it is read', () => {
  expect(() => resolveSecret({ secretFile: '/dev/null' }, {})).toThrow('it is not a regular file');
  const folder = mkdtempSync(join(tmpdir(), 'toolyard-secret-'));
  const large = join(folder, 'large');
  writeFileSync(large, '');
  // Sparse, and more than can be read at all.
  truncateSync(large, 3 * 2 ** 30);
  expect(() => resolveSecret({ secretFile: large }, {})).toThrow('it has more than 65536 bytes');
  rmSync(folder, { recursive: true });
});

it('allows a folder tool a variable of the worker as a secret, but no file', () => {
  const tool = (env: object) => FolderTool.safeParse({ name: 'a', description: 'A.', input: { type: 'object' }, run: ['./a'], env });
  expect(tool({ TOKEN: { secretEnv: 'TOKEN' }, PLAIN: 'text' }).success).toBe(true);
  expect(tool({ TOKEN: { secretFile: '/etc/shadow' } }).error?.issues[0]?.message).toContain('`secretFile` is for the config file only');
});
