import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from '@jest/globals';

/** `npm start` and `npm run bench` run dist/ in plain Node: a source that the build leaves out shows only there. */
it('compiles every file that a compiled file imports', () => {
  const scripts = readdirSync('dist', { recursive: true, encoding: 'utf8' }).filter((name) => /^(apps|libs|test)\/.*\.js$/.test(name));
  const missing = scripts.flatMap((script) => {
    const source = readFileSync(join('dist', script), 'utf8');
    const imports = [...source.matchAll(/^(?:import|export)\b[^;]*? from '(\.{1,2}\/[^']+\.js)'/gm)].map(([, path = '']) => path);
    return imports.filter((path) => !existsSync(join('dist', dirname(script), path))).map((path) => `${script} imports ${path}`);
  });
  expect(scripts).toContain('test/bench/bench.js');
  expect(missing).toEqual([]);
});
