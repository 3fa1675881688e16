import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rename, rm, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { McpBundle } from '#contracts';
import { egressFetch, type EgressPolicy } from '#sandbox';
import type { WorkspaceQuota } from '#tool-sdk';
import { BUNDLE_LIMITS } from './bundle-entries.js';
import { MANIFEST_NAME, MAX_MANIFEST_BYTES, manifestOf, type BundleManifest } from './bundle-manifest.js';
import { unpackBundle } from './unpack-bundle.js';
import { DRAFT } from './used-bundles.js';

const MAX_BYTES = 268_435_456;
/** Free bytes of the disk that bundles leave to others. */
const LEFT_FREE_BYTES = 536_870_912;

export interface InstalledBundle {
  readonly folder: string;
  readonly manifest: BundleManifest;
}

/** Places from which bundles are read. */
export interface BundlePlaces {
  readonly egress: EgressPolicy;
  /** The bytes of one that names neither address nor file. */
  readonly uploaded: (sha256: string) => AsyncIterable<Buffer>;
  /** Free bytes of the disk of a folder. Default: as the system says. */
  readonly freeBytes?: (folder: string) => Promise<number>;
  /** Of the folder with the bundles of a tenant. Default: no limit. */
  readonly quota?: Pick<WorkspaceQuota, 'remaining' | 'invalidate'> | undefined;
}

/** Bundles are large: one is fetched and unpacked at a time. */
let previous: Promise<unknown> = Promise.resolve();

/**
 * A bundle in a folder below `root` that is named by its digest, so it is fetched and unpacked once, and never changes. Nothing of a
 * bundle with another digest is unpacked.
 *
 * @throws Error in words for the operator
 */
export async function installBundle(bundle: McpBundle, root: string, places: BundlePlaces, signal: AbortSignal): Promise<InstalledBundle> {
  const folder = join(root, bundle.sha256);
  if (!(await exists(folder))) {
    const installing = previous.then(() => install(bundle, root, folder, places, signal));
    previous = installing.catch(() => undefined);
    await installing;
  }
  return { folder, manifest: await readManifest(folder) };
}

/** Whole or not at all, also beside another worker that does the same. */
async function install(bundle: McpBundle, root: string, folder: string, places: BundlePlaces, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  if (await exists(folder)) return;
  await mkdir(root, { recursive: true, mode: 0o700 });
  const room = await roomIn(root, places);
  const draft = await mkdtemp(join(root, DRAFT));
  try {
    const archive = join(draft, 'bundle.mcpb');
    const found = await fetched(bundle, archive, places, signal);
    if (found !== bundle.sha256) throw new Error(`the bundle has the SHA-256 digest ${found}, expected ${bundle.sha256}`);
    const files = join(draft, 'files');
    await mkdir(files, { mode: 0o755 });
    const { size } = await stat(archive);
    const limits = { files: Math.min(BUNDLE_LIMITS.files, room.files), bytes: Math.min(BUNDLE_LIMITS.bytes, room.bytes - size) };
    await unpackBundle(archive, files, signal, { ...BUNDLE_LIMITS, ...limits });
    await readManifest(files);
    await chmod(files, 0o755);
    await rename(files, folder);
  } catch (error) {
    if (!(await exists(folder))) throw error;
  } finally {
    await rm(draft, { recursive: true, force: true });
    places.quota?.invalidate();
  }
}

/** Room for a bundle, packed and unpacked. @throws Error without any */
async function roomIn(root: string, { freeBytes = freeBytesOf, quota }: BundlePlaces): Promise<{ bytes: number; files: number }> {
  const free = (await freeBytes(root)) - LEFT_FREE_BYTES;
  const left = (await quota?.remaining().catch(() => ({ bytes: 0, files: 0 }))) ?? { bytes: Infinity, files: Infinity };
  const room = { bytes: Math.min(free, left.bytes), files: left.files };
  if (room.bytes > 0 && room.files > 0) return room;
  if (free > 0)
    throw new Error(
      'the bundles of the tenant have all the disk of this worker that they may take (TENANT_QUOTA_BYTES, TENANT_QUOTA_FILES)',
    );
  throw new Error(`the disk of the worker has less than ${LEFT_FREE_BYTES} bytes free, which bundles leave to others`);
}

async function freeBytesOf(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

async function readManifest(folder: string): Promise<BundleManifest> {
  const file = join(folder, MANIFEST_NAME);
  const { size } = await stat(file).catch(() => {
    throw new Error('the bundle has no manifest.json');
  });
  if (size > MAX_MANIFEST_BYTES) throw new Error(`the manifest.json of the bundle is larger than ${MAX_MANIFEST_BYTES} bytes`);
  return manifestOf(await readFile(file, 'utf8'));
}

/** Writes the bundle to a file and answers its digest. */
function fetched({ url, path, sha256 }: McpBundle, to: string, { egress, uploaded }: BundlePlaces, signal: AbortSignal): Promise<string> {
  if (url !== undefined) return download(url, to, egress, signal);
  return keep(path === undefined ? Readable.from(uploaded(sha256)) : createReadStream(path), to, signal);
}

async function download(url: string, to: string, egress: EgressPolicy, signal: AbortSignal): Promise<string> {
  egress.check(url);
  const guarded = egressFetch(egress);
  try {
    const { status, headers, body } = await guarded.fetch(url, { signal });
    if (status !== 200 || body === null) {
      await body?.cancel();
      const where = headers.get('location');
      throw new Error(
        `the bundle was answered with the status ${status}${where === null ? '' : `, which points to ${where.slice(0, 200)}`}`,
      );
    }
    if (Number(headers.get('content-length')) > MAX_BYTES) throw tooLarge();
    return await keep(Readable.fromWeb(body), to, signal);
  } finally {
    await guarded.close();
  }
}

async function keep(bytes: Readable, to: string, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  let left = MAX_BYTES;
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      left -= chunk.length;
      hash.update(chunk);
      if (left < 0) done(tooLarge());
      else done(null, chunk);
    },
  });
  await pipeline(bytes, counted, createWriteStream(to, { mode: 0o600 }), { signal });
  return hash.digest('hex');
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

const tooLarge = () => new Error(`the bundle is larger than ${MAX_BYTES} bytes`);
