import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { McpBundle } from '#contracts';
import { EgressPolicy } from '#sandbox';
import { digestOf, MANIFEST, mcpBundle, type BundleFile } from '../../../../../test/support/mcp-bundle.js';
import { bundleCommand, BundleManifest, type ConfigValue } from './bundle-manifest.js';
import { installBundle } from './install-bundle.js';
import { BUNDLE_LIMITS } from './bundle-entries.js';
import { unpackBundle } from './unpack-bundle.js';
import { removeUnused, UNUSED_MS, useBundle } from './used-bundles.js';

const NO_NETWORK = new EgressPolicy([]);
const uploaded = (): AsyncIterable<Buffer> => Readable.from([]);
const SIGNAL = new AbortController().signal;

let folder: string;
let web: Server;
let served: Buffer;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'toolyard-bundles-'));
  web = createServer((request, response) => {
    if (request.url === '/moved') response.writeHead(302, { location: '/bundle' }).end();
    else response.end(served);
  });
  await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
});
afterAll(() => {
  web.close();
  rmSync(folder, { recursive: true, force: true });
});

let next = 0;
async function install(bytes: Buffer, sha256 = digestOf(bytes), more: Partial<Parameters<typeof installBundle>[2]> = {}) {
  const root = join(folder, `root-${++next}`);
  const path = join(folder, `bundle-${next}.mcpb`);
  writeFileSync(path, bytes);
  const installed = await installBundle(McpBundle.parse({ path, sha256 }), root, { egress: NO_NETWORK, uploaded, ...more }, SIGNAL);
  return { root, installed };
}

const withManifest = (...files: BundleFile[]) => mcpBundle([{ name: 'manifest.json', text: JSON.stringify(MANIFEST) }, ...files]);

describe('installing a bundle', () => {
  it('unpacks a bundle once, with the modes of its programs', async () => {
    const { bytes, sha256 } = await withManifest(
      { name: 'bin/run', text: 'x', mode: 0o100_755 },
      { name: 'data', text: 'y', mode: 0o104_644 },
    );
    const { root, installed } = await install(bytes);
    expect(installed.manifest.name).toBe('greeter');
    expect(statSync(join(installed.folder, 'bin/run')).mode & 0o7777).toBe(0o755);
    expect(statSync(join(installed.folder, 'data')).mode & 0o7777).toBe(0o644);
    // The file is not read again.
    const again = await installBundle(McpBundle.parse({ path: '/nowhere.mcpb', sha256 }), root, { egress: NO_NETWORK, uploaded }, SIGNAL);
    expect(again.folder).toBe(installed.folder);
  });

  it('unpacks nothing of a bundle with another digest', async () => {
    const { bytes, sha256 } = await mcpBundle();
    const wrong = 'a'.repeat(64);
    await expect(install(bytes, wrong)).rejects.toThrow(`the bundle has the SHA-256 digest ${sha256}, expected ${wrong}`);
    expect(readdirSync(join(folder, `root-${next}`))).toEqual([]);
  });

  it('deletes a bundle after a week without use, but none in use or with a lost mark', async () => {
    const root = join(folder, 'used');
    const [used, unused, unmarked] = ['a', 'b', 'c'].map((letter) => letter.repeat(64)) as [string, string, string];
    const stop = await useBundle(root, used);
    (await useBundle(root, unused))();
    for (const sha256 of [used, unused, unmarked]) mkdirSync(join(root, sha256));
    const old = new Date(Date.now() - UNUSED_MS + 60_000);
    utimesSync(join(root, `${unused}.used`), old, old);
    const left = () =>
      readdirSync(root)
        .filter((name) => !name.endsWith('.used'))
        .sort();
    await removeUnused(root);
    expect(left()).toEqual([used, unused, unmarked]);
    await removeUnused(root, Date.now() + 120_000);
    expect(left()).toEqual([used, unmarked]);
    expect(readdirSync(root)).not.toContain(`${unused}.used`);
    stop();
  });

  it('deletes folders of bundles that a killed worker did not finish, but none that is being unpacked', async () => {
    const root = join(folder, 'unfinished');
    const names = ['.removing-old', '.unpacking-new', '.unpacking-old'];
    for (const name of names) mkdirSync(join(root, name, 'files'), { recursive: true });
    const old = new Date(Date.now() - 7_200_000);
    for (const name of names.filter((it) => it.endsWith('old'))) utimesSync(join(root, name), old, old);
    await removeUnused(root);
    expect(readdirSync(root)).toEqual(['.unpacking-new']);
  });

  it('fetches a bundle within the egress rules, and follows no redirects', async () => {
    const { bytes, sha256 } = await mcpBundle();
    served = bytes;
    const host = `127.0.0.1:${(web.address() as AddressInfo).port}`;
    const from = (path: string, policy: EgressPolicy) =>
      installBundle(
        McpBundle.parse({ url: `http://${host}${path}`, sha256 }),
        join(folder, `web-${++next}`),
        { egress: policy, uploaded },
        SIGNAL,
      );
    await expect(from('/bundle', NO_NETWORK)).rejects.toThrow(/is a loopback address/);
    const allowed = new EgressPolicy([host]);
    await expect(from('/moved', allowed)).rejects.toThrow('status 302, which points to /bundle');
    expect((await from('/bundle', allowed)).manifest.version).toBe('1.0.0');
  });

  it.each([
    ['a link', { name: 'link', text: '/etc/passwd', mode: 0o120_777 }, /neither a file nor a folder/],
    ['a file twice', { name: 'manifest.json', text: '{}' }, /exist/i],
  ])('refuses a bundle with %s, and leaves no files', async (_what, file, fault) => {
    const { bytes } = await withManifest(file);
    await expect(install(bytes)).rejects.toThrow(fault);
    expect(readdirSync(join(folder, `root-${next}`))).toEqual([]);
  });

  it.each([
    ['outside of its folder', '../escaped'],
    ['at an absolute path', '/tmp/escape'],
    ['with a backslash', '..\\escaped'],
  ])('refuses a bundle with a file %s', async (_what, name) => {
    const safe = 'x'.repeat(name.length);
    const { bytes } = await withManifest({ name: safe, text: 'z' });
    const text = bytes.toString('latin1').replaceAll(safe, name);
    await expect(install(Buffer.from(text, 'latin1'))).rejects.toThrow(/invalid|absolute|relative/);
    expect(readdirSync(folder)).not.toContain('escaped');
  });

  it.each([
    ['no manifest', [{ name: 'server.js', text: '' }], 'the bundle has no manifest.json'],
    ['a manifest that is no JSON', [{ name: 'manifest.json', text: '{' }], 'is no JSON'],
    [
      'a server of another type',
      [{ name: 'manifest.json', text: JSON.stringify({ ...MANIFEST, server: { type: 'wasm' } }) }],
      'server.type',
    ],
    [
      'a server of the type uv',
      [{ name: 'manifest.json', text: JSON.stringify({ ...MANIFEST, server: { type: 'uv' } }) }],
      'uv are not implemented',
    ],
  ])('refuses a bundle with %s', async (_what, files, fault) => {
    await expect(install((await mcpBundle(files)).bytes)).rejects.toThrow(fault);
  });

  it('counts files, folders and bytes of a bundle while it unpacks', async () => {
    const { bytes } = await withManifest({ name: 'a/zeros', text: '0'.repeat(100_000) });
    const path = join(folder, 'counted.mcpb');
    writeFileSync(path, bytes);
    const unpack = (limits: Partial<typeof BUNDLE_LIMITS>) =>
      unpackBundle(path, mkdtempSync(join(folder, 'limits-')), SIGNAL, { ...BUNDLE_LIMITS, ...limits });
    await expect(unpack({ files: 2 })).rejects.toThrow('more than 2 files and folders');
    await expect(unpack({ bytes: 50_000 })).rejects.toThrow('too large');
    await expect(unpack({ levels: 1 })).rejects.toThrow('or 1 levels');
    await expect(unpack({ nameBytes: 6 })).rejects.toThrow('more than 6 bytes');
    await unpack({ files: 3, bytes: 200_000, levels: 2 });
  });

  it('leaves half a gigabyte of the disk of a worker free of bundles', async () => {
    const { bytes, sha256 } = await withManifest({ name: 'zeros', text: '0'.repeat(100_000) });
    const installed = (free: number) => install(bytes, sha256, { freeBytes: async () => 536_870_912 + free });
    await expect(installed(0)).rejects.toThrow('less than 536870912 bytes free');
    await expect(installed(bytes.length + 50_000)).rejects.toThrow('or the disk of the worker, has no room for it');
    await installed(bytes.length + 200_000);
  });

  it('refuses a bundle that is no archive', async () => {
    await expect(install(Buffer.from('no archive'))).rejects.toThrow(/end of central directory/i);
  });
});

describe('the command of a bundle', () => {
  const places = { folder: '/bundles/1', home: '/home/1' };
  const command = (given: Record<string, ConfigValue>, changes: object = {}) =>
    bundleCommand(BundleManifest.parse({ ...MANIFEST, ...changes }), places, given);

  it('builds the command of a bundle with its folder and the settings, lists as words of their own', () => {
    const { words, env, secrets } = command({ token: 'abc', words: ['one', 'two words'] });
    expect(words).toEqual([process.execPath, '/bundles/1/server/index.js', 'one', 'two words']);
    expect(env).toEqual({ GREETING: 'Hello', TOKEN: 'abc' });
    expect(secrets).toEqual(['abc']);
  });

  it('omits unset values from the command of a bundle', () => {
    const { user_config: settings } = MANIFEST;
    const { words, env } = command({}, { user_config: { ...settings, token: { ...settings.token, required: false } } });
    expect([words.length, env]).toEqual([2, { GREETING: 'Hello' }]);
  });

  it('passes a setting of a bundle on unchanged: variables in it are not expanded', () => {
    expect(command({ token: '${user_config.greeting}' }).env['TOKEN']).toBe('${user_config.greeting}');
  });

  it('opens the files and folders that a person names for a bundle, but none from its manifest', () => {
    const settings = { ...MANIFEST.user_config, where: { type: 'directory', multiple: true, default: ['/'] } };
    expect(command({ token: 'x' }, { user_config: settings }).paths).toEqual([]);
    expect(command({ token: 'x', where: ['/srv/a', '/srv/b'] }, { user_config: settings }).paths).toEqual(['/srv/a', '/srv/b']);
  });

  it.each(['LD_PRELOAD', 'BASH_ENV', 'ENV', 'GCONV_PATH'])('refuses %s in a bundle, which the sandbox’s launcher would inherit', (name) => {
    const server = { ...MANIFEST.server, mcp_config: { ...MANIFEST.server.mcp_config, env: { [name]: '${__dirname}/x.so' } } };
    expect(() => command({ token: 'x' }, { server })).toThrow(`the bundle sets the variable ${name}`);
  });

  it('hides the value of a wrong setting of a bundle', () => {
    const settings = { token: { type: 'number', sensitive: true } };
    expect(() => command({ token: 'ghp_secret' }, { user_config: settings })).toThrow(/^(?!.*ghp_secret).*expected a number/);
  });

  it('reads texts of a bundle without end in time that grows with them', () => {
    const server = {
      ...MANIFEST.server,
      mcp_config: { command: '${'.repeat(2_000), args: Array.from({ length: 256 }, () => '${'.repeat(2_000)) },
    };
    expect(command({ token: 'x' }, { server }).words).toHaveLength(257);
  });

  it.each<[string, Record<string, ConfigValue>, object, string]>([
    ['a missing setting', {}, {}, 'the bundle needs the setting token'],
    ['an unknown setting', { token: 'x', color: 'red' }, {}, 'the bundle has no setting color: it has greeting, token, words'],
    ['several values of one', { token: ['x', 'y'] }, {}, 'expected one value'],
    ['a number out of bounds', { n: 11 }, { user_config: { n: { type: 'number', max: 10 } } }, 'expected … to 10'],
    ['a text as a number', { n: 'many' }, { user_config: { n: { type: 'number' } } }, 'expected a number'],
    ['a number as a truth value', { n: 1 }, { user_config: { n: { type: 'boolean' } } }, 'expected true or false'],
    ['another system', { token: 'x' }, { compatibility: { platforms: ['win32'] } }, 'the bundle is for win32'],
  ])('refuses the command of a bundle with %s', (_what, given, changes, fault) => {
    expect(() => command(given, changes)).toThrow(fault);
  });
});
