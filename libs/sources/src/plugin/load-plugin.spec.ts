import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { loadPlugins } from './load-plugin.js';

/** Same form as from `definePlugin`, without the SDK. */
const plugin = (name: string, open: string) => `export default { [Symbol.for('toolyard.plugin')]: 1, name: '${name}', open: ${open} };`;

describe('loading of plugins', () => {
  const folder = mkdtempSync(join(tmpdir(), 'load-plugin-'));
  const put = (name: string, toolyard: unknown, code = '') => {
    const place = join(folder, 'node_modules', name);
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, 'package.json'), JSON.stringify({ name, type: 'module', exports: {}, toolyard }));
    writeFileSync(join(place, 'plugin.js'), code);
  };
  const load = (...names: string[]) =>
    loadPlugins(
      names.map((name) => ({ package: name, config: { greeting: 'Hi' }, trust: false })),
      join(folder, 'deeper'),
    );

  beforeAll(() => {
    mkdirSync(join(folder, 'deeper'));
    put('@scope/good', './plugin.js', plugin('good', 'async ({ greeting }) => { if (greeting !== "Hi") throw new Error(); return []; }'));
    put('same-name', './plugin.js', plugin('good', 'async () => []'));
    put('refuses', './plugin.js', plugin('refuses', 'async () => { throw new Error("its config is wrong: greeting"); }'));
    put('bad-name', './plugin.js', plugin('Bad Name', 'async () => []'));
    put('no-field', undefined);
    put('no-file', './missing.js');
    put('no-plugin', './plugin.js', 'export default {};');
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('finds a package above the folder of the config file, or by a path, with any exports', async () => {
    for (const name of ['@scope/good', '../node_modules/@scope/good', join(folder, 'node_modules/@scope/good')]) {
      const [loaded] = await load(name);
      expect(loaded?.source).toEqual({
        tenantId: '*',
        origin: 'config',
        definition: { name: 'good', kind: 'plugin', package: name, trust: false, pin: false },
      });
    }
  });

  it.each([
    ['nowhere', 'it is not installed; run npm install nowhere in'],
    ['./nowhere', 'there is no package.json in'],
    ['no-field', 'has no "toolyard": expected the path of a file'],
    ['no-file', 'missing.js'],
    ['no-plugin', 'has no default export made by definePlugin'],
    ['refuses', 'its config is wrong: greeting'],
    ['bad-name', 'its name "Bad Name" is wrong: expected a lower-case letter'],
  ])('explains why the package %s cannot be loaded', async (name, why) => {
    const failure = await load('@scope/good', name).catch((error: unknown) => error);
    expect(failure).toMatchObject({ message: expect.stringContaining(`The plugin ${name} cannot be loaded: `) });
    expect(failure).toMatchObject({ message: expect.stringContaining(why) });
  });

  it('refuses two plugins with one name', async () => {
    await expect(load('@scope/good', 'same-name')).rejects.toThrow(
      'The plugin same-name cannot be loaded: another plugin is called good, too',
    );
  });
});
