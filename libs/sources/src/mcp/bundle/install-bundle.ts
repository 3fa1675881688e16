import { createHash } from 'node:crypto';
import { chmod, mkdir, mkdtemp, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { McpBundle } from '#contracts';
import { egressFetch, type EgressPolicy } from '#sandbox';
import { boundedBody } from '../../openapi/bounded-body.js';
import { BundleManifest } from './bundle-manifest.js';
import { unpackBundle } from './unpack-bundle.js';

const MAX_BYTES = 268_435_456;
const MAX_MANIFEST_BYTES = 1_048_576;

export interface InstalledBundle {
  readonly folder: string;
  readonly manifest: BundleManifest;
}

/**
 * A bundle in a folder below `root` that is named by its digest, so it is fetched and unpacked once, and never changes. Nothing of a
 * bundle with another digest is unpacked.
 *
 * @throws Error in words for the operator
 */
export async function installBundle(bundle: McpBundle, root: string, egress: EgressPolicy, signal: AbortSignal): Promise<InstalledBundle> {
  const folder = join(root, bundle.sha256);
  if (!(await exists(folder))) {
    const bytes = bundle.path === undefined ? await download(bundle.url ?? '', egress, signal) : await readBundle(bundle.path);
    const found = createHash('sha256').update(bytes).digest('hex');
    if (found !== bundle.sha256) throw new Error(`the bundle has the SHA-256 digest ${found}, expected ${bundle.sha256}`);
    await unpackTo(bytes, root, folder);
  }
  return { folder, manifest: await readManifest(folder) };
}

/** Whole or not at all, also beside another worker that does the same. */
async function unpackTo(bytes: Buffer, root: string, folder: string): Promise<void> {
  await mkdir(root, { recursive: true, mode: 0o700 });
  const draft = await mkdtemp(join(root, '.unpacking-'));
  try {
    await unpackBundle(bytes, draft);
    await readManifest(draft);
    await chmod(draft, 0o755);
    await rename(draft, folder);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    if (!(await exists(folder))) throw error;
  }
}

async function readManifest(folder: string): Promise<BundleManifest> {
  const file = join(folder, 'manifest.json');
  const { size } = await stat(file).catch(() => {
    throw new Error('the bundle has no manifest.json');
  });
  if (size > MAX_MANIFEST_BYTES) throw new Error(`the manifest.json of the bundle is larger than ${MAX_MANIFEST_BYTES} bytes`);
  const parsed = BundleManifest.safeParse(jsonOf(await readFile(file, 'utf8')));
  if (parsed.success) return parsed.data;
  const [first] = parsed.error.issues;
  throw new Error(`the manifest.json of the bundle cannot be used: ${first?.path.join('.') ?? ''}: ${first?.message ?? ''}`.slice(0, 300));
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error('the manifest.json of the bundle is no JSON');
  }
}

async function download(url: string, egress: EgressPolicy, signal: AbortSignal): Promise<Buffer> {
  egress.check(url);
  const guarded = egressFetch(egress);
  try {
    const response = await guarded.fetch(url, { signal });
    if (response.status !== 200) {
      await response.body?.cancel();
      const to = response.headers.get('location');
      throw new Error(
        `the bundle was answered with the status ${response.status}${to === null ? '' : `, which points to ${to.slice(0, 200)}`}`,
      );
    }
    const bytes = await boundedBody(response, MAX_BYTES);
    if (bytes === undefined) throw tooLarge();
    return bytes;
  } finally {
    await guarded.close();
  }
}

async function readBundle(path: string): Promise<Buffer> {
  const file = await open(path, 'r');
  try {
    if ((await file.stat()).size > MAX_BYTES) throw tooLarge();
    return await file.readFile();
  } finally {
    await file.close();
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

const tooLarge = () => new Error(`the bundle is larger than ${MAX_BYTES} bytes`);
