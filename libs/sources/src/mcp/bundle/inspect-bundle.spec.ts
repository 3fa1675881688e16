import { describe, expect, it } from '@jest/globals';
import { MANIFEST, mcpBundle, type BundleFile } from '../../../../../test/support/mcp-bundle.js';
import { BUNDLE_LIMITS } from './bundle-entries.js';
import { assertConfigOfKey, BundleManifest, MAX_MANIFEST_BYTES, settingsOf } from './bundle-manifest.js';
import { inspectBundle } from './inspect-bundle.js';

const manifest: BundleFile = { name: 'manifest.json', text: JSON.stringify(MANIFEST) };
const bytesOf = async (...files: BundleFile[]) => (await mcpBundle(files)).bytes;
/** The size of a file that the archive states in its list; the file itself stays as it is. */
const stating = (bytes: Buffer, name: string, size: number) => {
  const changed = Buffer.from(bytes);
  const listed = changed.lastIndexOf(name) - 46;
  changed.writeUInt32LE(size, listed + 24);
  return changed;
};

describe('a bundle that is looked at without unpacking it', () => {
  it('answers the manifest of a bundle without unpacking it, with texts for people cut', async () => {
    const {
      name,
      description,
      user_config: settings,
    } = await inspectBundle(
      await bytesOf({ name: 'manifest.json', text: JSON.stringify({ ...MANIFEST, description: 'x'.repeat(5_000) }) }),
    );
    expect([name, description?.length, Object.keys(settings)]).toEqual(['greeter', 1_000, ['greeting', 'token', 'words']]);
  });

  it.each([
    ['is no archive', Buffer.from('no archive'), /end of central directory/i],
    ['has no manifest', bytesOf({ name: 'server.js', text: '' }), 'no manifest.json'],
    ['has its manifest in a folder only', bytesOf({ ...manifest, name: 'a/manifest.json' }), 'no manifest.json'],
    ['has a manifest that is no JSON', bytesOf({ name: 'manifest.json', text: '{' }), 'is no JSON'],
    ['has a giant manifest', bytesOf({ name: 'manifest.json', text: ' '.repeat(MAX_MANIFEST_BYTES + 1) }), 'larger than 1048576 bytes'],
    ['has a link', bytesOf(manifest, { name: 'link', text: '/etc/passwd', mode: 0o120_777 }), 'neither a file nor a folder'],
    ['has a device', bytesOf(manifest, { name: 'device', text: '', mode: 0o020_666 }), 'neither a file nor a folder'],
    ['has a file twice', bytesOf(manifest, { name: 'a', text: '1' }, { name: 'a', text: '2' }), 'the file "a" twice'],
    ['has its manifest twice', bytesOf(manifest, manifest), 'the file "manifest.json" twice'],
    ['has a name of many levels', bytesOf(manifest, { name: 'a/'.repeat(40) + 'b', text: '' }), 'or 32 levels'],
  ])('refuses a bundle that is looked at when it %s', async (_what, bytes, fault) => {
    await expect(inspectBundle(await bytes)).rejects.toThrow(fault);
  });

  it.each(['../escaped', '/tmp/escape', '..\\escaped'])('refuses a bundle that is looked at with a file %s', async (name) => {
    const safe = 'x'.repeat(name.length);
    const text = (await bytesOf(manifest, { name: safe, text: '' })).toString('latin1').replaceAll(safe, name);
    await expect(inspectBundle(Buffer.from(text, 'latin1'))).rejects.toThrow(/invalid|absolute|relative/);
  });

  it('counts an entry of a bundle each time that its list has it', async () => {
    const names = Array.from({ length: 5 }, (): BundleFile => ({ name: 'zz', text: '', mode: 0o040_755 }));
    const repeated = (await bytesOf(manifest, ...names)).toString('latin1').replaceAll('zz', 'a/');
    const inspected = inspectBundle(Buffer.from(repeated, 'latin1'), { ...BUNDLE_LIMITS, files: 4 });
    await expect(inspected).rejects.toThrow('more than 4 files and folders');
  });

  it('refuses too large a bundle, whatever its manifest states', async () => {
    const zeros = await bytesOf(manifest, { name: 'zeros', text: '0'.repeat(100_000) });
    expect(zeros.byteLength).toBeLessThan(5_000);
    await expect(inspectBundle(zeros, { ...BUNDLE_LIMITS, bytes: 50_000 })).rejects.toThrow('more than 50000 bytes when it is unpacked');
    await expect(inspectBundle(stating(zeros, 'zeros', 0xff_ff_ff_00))).rejects.toThrow('more than 1073741824 bytes');
    await expect(inspectBundle(stating(zeros, 'manifest.json', 10))).rejects.toThrow(/too many bytes/);
    await expect(inspectBundle(zeros, { ...BUNDLE_LIMITS, files: 1 })).rejects.toThrow('more than 1 files and folders');
  });
});

describe('what a key sets for a bundle', () => {
  const settings = {
    ...MANIFEST.user_config,
    limit: { type: 'number', min: 1, max: 9 },
    folder: { type: 'directory' },
  };
  const bundle = BundleManifest.parse({ ...MANIFEST, user_config: settings });
  const TOKEN = { secretEnv: 'TOKEN' };

  it('fits settings of a key to the manifest of a bundle, with secrets by reference', () => {
    expect(() => assertConfigOfKey(bundle, { token: TOKEN, words: ['a', 'b'], limit: 3 })).not.toThrow();
    expect(() => assertConfigOfKey(bundle, { token: TOKEN, limit: { secretEnv: 'LIMIT' } })).not.toThrow();
    expect(settingsOf(bundle)).toContainEqual({
      name: 'token',
      type: 'string',
      title: 'Token',
      description: '',
      required: true,
      sensitive: true,
      multiple: false,
    });
  });

  it.each([
    ['a required setting is missing', {}, 'needs the setting token'],
    ['a setting is unknown', { token: TOKEN, tokens: 'x' }, 'has no setting tokens: it has greeting, token'],
    ['a setting is that of every object', { token: TOKEN, constructor: 'x' }, 'has no setting constructor'],
    ['an unknown setting is a reference', { token: TOKEN, other: TOKEN }, 'has no setting other'],
    ['a secret is written out', { token: 'abcdef' }, 'expected a reference to a variable of the workers'],
    ['a number is too large', { token: TOKEN, limit: 10 }, 'expected 1 to 9'],
    ['a number is a text', { token: TOKEN, limit: 'many' }, 'expected a number'],
    ['one value is a list', { token: TOKEN, greeting: ['a'] }, 'expected one value'],
    ['a folder of the workers is named', { token: TOKEN, folder: '/etc' }, 'is for sources of the config file'],
    ['a folder is a reference', { token: TOKEN, folder: TOKEN }, 'is for sources of the config file'],
  ])('refuses settings of a key for a bundle when %s', (_what, config, fault) => {
    expect(() => assertConfigOfKey(bundle, config)).toThrow(fault);
  });
});
