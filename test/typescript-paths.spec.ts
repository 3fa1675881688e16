import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';

const read = <T>(path: string, schema: z.ZodType<T>): T => schema.parse(JSON.parse(readFileSync(path, 'utf8')));

describe('tsconfig.json', () => {
  it('resolves each #lib to the source that package.json names, for tools that read only tsconfig.json', () => {
    const { imports } = read('package.json', z.object({ imports: z.record(z.string(), z.object({ source: z.string() })) }));
    const { compilerOptions } = read(
      'tsconfig.json',
      z.object({ compilerOptions: z.object({ paths: z.record(z.string(), z.array(z.string())) }) }),
    );
    // Packages whose own condition `source` means other files are there too.
    const libs = Object.fromEntries(Object.entries(compilerOptions.paths).filter(([name]) => name.startsWith('#')));
    expect(libs).toEqual(Object.fromEntries(Object.entries(imports).map(([name, { source }]) => [name, [source]])));
  });
});
