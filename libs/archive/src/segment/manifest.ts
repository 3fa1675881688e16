import canonicalize from 'canonicalize';
import { z } from 'zod';
import { ArchiveCorrupt } from '../archive-errors.js';
import { CompactTree, countBits } from '../merkle/compact-tree.js';
import { segmentName } from './names.js';

const hash = z.string().regex(/^[0-9a-f]{64}$/);
const count = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);
const positive = count.min(1);

/**
 * Facts of a segment without its events. Hashes are lower-case hexadecimal SHA-256, times are milliseconds since 1970. A
 * segment exists if its manifest does.
 */
export const MANIFEST = z.strictObject({
  version: z.literal(1),
  /** Digits alone, such as `07`. */
  partition: z.string().regex(/^\d{2,3}$/),
  /** Generation; rises after Redis lost sealed events, which the new generation replaces. */
  generation: positive,
  epoch: positive,
  fromSeq: positive,
  toSeq: positive,
  count: positive,
  firstTime: count,
  lastTime: count,
  /** Chain before and after this segment: chain = SHA-256(chain before || leaf) for each event. */
  prevChain: hash,
  chain: hash,
  /** Root over the leaves of this segment alone (RFC 6962). */
  merkleRoot: hash,
  file: z.strictObject({ name: z.string(), bytes: positive, sha256: hash }),
  /** Tree over all events of the generation up to the end of this segment; its first leaf is the event `firstSeq`. */
  tree: z.strictObject({ firstSeq: positive, size: positive, root: hash, edge: z.array(hash) }),
});

export type Manifest = z.infer<typeof MANIFEST>;

export function manifestBytes(manifest: Manifest): Buffer {
  return Buffer.from(`${canonicalize(manifest)}\n`);
}

/** Tree that ends with a segment, ready to append to. */
export function treeOf({ tree }: Manifest): CompactTree {
  return CompactTree.of(
    tree.size,
    tree.edge.map((text) => Buffer.from(text, 'hex')),
  );
}

/** @throws ArchiveCorrupt for anything but the manifest that belongs to this name */
export function parseManifest(name: string, bytes: Uint8Array): Manifest {
  const manifest = parse(name, bytes);
  const fault = faultOf(name, manifest);
  if (fault !== undefined) throw new ArchiveCorrupt(name, fault);
  if (!manifestBytes(manifest).equals(bytes)) throw new ArchiveCorrupt(name, 'is not in canonical form');
  return manifest;
}

function parse(name: string, bytes: Uint8Array): Manifest {
  try {
    return MANIFEST.parse(JSON.parse(Buffer.from(bytes).toString()));
  } catch (error) {
    if (!(error instanceof z.ZodError)) throw new ArchiveCorrupt(name, 'is not JSON', undefined, { cause: error });
    const [issue] = error.issues;
    throw new ArchiveCorrupt(name, `is no manifest: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}`);
  }
}

function faultOf(name: string, manifest: Manifest): string | undefined {
  const { fromSeq, toSeq, count: events, tree, file } = manifest;
  if (segmentName(manifest, 'manifest') !== name) return `belongs to ${segmentName(manifest, 'manifest')}`;
  if (segmentName(manifest, 'file') !== file.name) return `names the file ${file.name}`;
  if (events !== toSeq - fromSeq + 1) return `counts ${events} events from ${fromSeq} to ${toSeq}`;
  if (tree.firstSeq > fromSeq || tree.size !== toSeq - tree.firstSeq + 1)
    return `has a tree of ${tree.size} leaves from ${tree.firstSeq} to ${toSeq}`;
  if (tree.edge.length !== countBits(tree.size)) return `has a tree edge of ${tree.edge.length} hashes for ${tree.size} leaves`;
  if (treeOf(manifest).root().toString('hex') !== tree.root) return 'has a tree root that does not follow from its edge';
  return undefined;
}
