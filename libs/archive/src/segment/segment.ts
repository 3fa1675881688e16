import { gunzipSync, gzipSync } from 'node:zlib';
import { ArchiveCorrupt } from '../archive-errors.js';
import { CompactTree } from '../merkle/compact-tree.js';
import { sha256 } from '../merkle/hashes.js';
import { parseLines, splitLines, toLine, type SealedEvent } from './event-lines.js';
import { segmentName } from './names.js';
import { FIRST_CHAIN, foldLines } from './segment-hashes.js';
import { treeOf, type Manifest } from './manifest.js';

/** Limits of a segment, which is closed at the first of them. */
export const SEGMENT_LIMITS = { events: 4_096, bytes: 32 * 1_048_576 } as const;

/** Largest text: the events of one transition may exceed the limit of a segment. */
const MAX_TEXT_BYTES = 2 * SEGMENT_LIMITS.bytes;

export interface SealedSegment {
  readonly manifest: Manifest;
  readonly manifestName: string;
  readonly file: Buffer;
  readonly fileName: string;
  /** Uncompressed text of `file`. */
  readonly text: Buffer;
}

export interface SegmentInput {
  /** Digits alone, such as `07`. */
  readonly partition: string;
  readonly generation: number;
  readonly epoch: number;
  /** Previous segment; undefined for the first of a partition. For the first of a later generation: the last of the previous one. */
  readonly previous: Manifest | undefined;
  /** Events, at least one, at most `SEGMENT_LIMITS`, in order and without a gap. */
  readonly events: readonly SealedEvent[];
}

/**
 * Makes a segment: the file with one event a line (JSON, gzip) and its manifest. Deterministic: equal input gives equal bytes.
 *
 * @throws RangeError for events that do not follow each other or `previous`, have another place, or are too many
 */
export function sealSegment(input: SegmentInput): SealedSegment {
  checkOrder(input);
  const { partition, generation, epoch, previous, events } = input;
  const text = textOf(input);
  const [first, last] = [events[0] ?? NONE, events.at(-1) ?? NONE];
  const name = { partition, generation, toSeq: last.seq };
  const file = gzipSync(text);
  const prevChain = previous?.chain ?? FIRST_CHAIN;
  const before = previous?.generation === generation ? previous : undefined;
  const tree = before === undefined ? CompactTree.empty() : treeOf(before);
  const manifest: Manifest = {
    version: 1,
    partition,
    generation,
    epoch,
    fromSeq: first.seq,
    toSeq: last.seq,
    count: events.length,
    firstTime: first.time,
    lastTime: last.time,
    prevChain,
    ...foldLines(splitLines(text).slice(0, -1), prevChain, tree),
    file: { name: segmentName(name, 'file'), bytes: file.length, sha256: toHex(sha256(file)) },
    tree: { firstSeq: before?.tree.firstSeq ?? first.seq, size: tree.size, root: toHex(tree.root()), edge: tree.rightEdge().map(toHex) },
  };
  return { manifest, manifestName: segmentName(name, 'manifest'), file, fileName: manifest.file.name, text };
}

/**
 * Events of a segment, verified against the manifest.
 *
 * @throws ArchiveCorrupt with the file, the line, if any, and the fault
 */
export function readSegment(file: Buffer, manifest: Manifest): SealedEvent[] {
  return readLines(file, manifest).events;
}

/** Verified events of a segment, with their lines as hashed. */
export function readLines(file: Buffer, manifest: Manifest): { events: SealedEvent[]; lines: Buffer[] } {
  return verifyText(readText(file, manifest), manifest);
}

/** Text of a segment, after a check of the digest of its file. @throws ArchiveCorrupt */
export function readText(file: Buffer, manifest: Manifest): Buffer {
  const { name, bytes, sha256: expected } = manifest.file;
  if (file.length !== bytes) throw new ArchiveCorrupt(name, `has ${file.length} bytes, its manifest says ${bytes}`);
  const digest = toHex(sha256(file));
  if (digest !== expected) throw new ArchiveCorrupt(name, `has the SHA-256 ${digest}, its manifest says ${expected}`);
  return decompress(name, file);
}

/** Verifies the text of a segment against its manifest, without the compressed file. @throws ArchiveCorrupt */
export function verifyText(text: Buffer, manifest: Manifest): { events: SealedEvent[]; lines: Buffer[] } {
  const parsed = parseLines(text, manifest);
  const found = foldLines(parsed.lines, manifest.prevChain);
  for (const field of ['merkleRoot', 'chain'] as const) {
    if (found[field] !== manifest[field])
      throw new ArchiveCorrupt(manifest.file.name, `its lines give the ${field} ${found[field]}, its manifest says ${manifest[field]}`);
  }
  return parsed;
}

/** @throws ArchiveCorrupt if the file is not gzip, or larger than any segment */
export function decompress(name: string, file: Buffer): Buffer {
  try {
    return gunzipSync(file, { maxOutputLength: MAX_TEXT_BYTES });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ArchiveCorrupt(name, `cannot be decompressed: ${reason}`, undefined, { cause: error });
  }
}

const NONE: SealedEvent = { seq: 0, time: 0, json: '' };

function checkOrder({ generation, epoch, previous, events }: SegmentInput): void {
  const first = events[0]?.seq;
  if (first === undefined || events.length > SEGMENT_LIMITS.events)
    throw new RangeError(`A segment has 1 to ${SEGMENT_LIMITS.events} events, got ${events.length}.`);
  const hole = events.findIndex(({ seq }, index) => seq !== first + index);
  if (hole >= 0) throw new RangeError(`Expected event ${first + hole}, got ${events[hole]?.seq}.`);
  if (previous === undefined) return;
  const next = previous.toSeq + 1;
  if (previous.generation === generation ? first !== next : first > next || previous.generation > generation)
    throw new RangeError(`Expected event ${next} of generation ${previous.generation}, got event ${first} of generation ${generation}.`);
  // Epochs may fall in a new generation: a Redis that lost everything begins at 1 again.
  if (previous.generation === generation && epoch < previous.epoch)
    throw new RangeError(`Expected epoch ${previous.epoch} or a later one, got ${epoch}.`);
}

/** Text of a segment, one event a line. @throws RangeError for events of another place, or above the limit */
function textOf(input: SegmentInput): Buffer {
  const text = Buffer.from(input.events.map((event) => `${toLine(event, input)}\n`).join(''));
  if (text.length <= MAX_TEXT_BYTES) return text;
  throw new RangeError(`A segment has at most ${MAX_TEXT_BYTES} bytes of events, got ${text.length}. Seal fewer events.`);
}

function toHex(bytes: Buffer): string {
  return bytes.toString('hex');
}
