import { buffer } from 'node:stream/consumers';
import { fromBufferPromise } from 'yauzl';
import { BUNDLE_LIMITS, bundleEntries } from './bundle-entries.js';
import { MANIFEST_NAME, MAX_MANIFEST_BYTES, manifestOf, type BundleManifest } from './bundle-manifest.js';

/**
 * The manifest of a bundle that is not unpacked. Names, kinds and stated sizes of all entries are checked; the bytes are
 * counted when a worker unpacks them.
 *
 * @throws Error in words for the person who sent it
 */
export async function inspectBundle(bytes: Buffer, limits = BUNDLE_LIMITS): Promise<BundleManifest> {
  const archive = await fromBufferPromise(bytes, { strictFileNames: true });
  const files = new Set<string>();
  let left = limits.bytes;
  let manifest: BundleManifest | undefined;
  for await (const { entry, isFolder } of bundleEntries(archive, limits)) {
    const { fileName, uncompressedSize } = entry;
    left -= uncompressedSize;
    if (left < 0) throw new Error(`the bundle has more than ${limits.bytes} bytes when it is unpacked`);
    if (isFolder) continue;
    if (files.has(fileName)) throw new Error(`the bundle has the file ${JSON.stringify(fileName)} twice`);
    files.add(fileName);
    if (fileName !== MANIFEST_NAME) continue;
    if (uncompressedSize > MAX_MANIFEST_BYTES)
      throw new Error(`the manifest.json of the bundle is larger than ${MAX_MANIFEST_BYTES} bytes`);
    // The reader refuses more bytes than stated.
    manifest = manifestOf((await buffer(await archive.openReadStreamPromise(entry))).toString('utf8'));
  }
  if (manifest === undefined) throw new Error('the bundle has no manifest.json');
  return manifest;
}
