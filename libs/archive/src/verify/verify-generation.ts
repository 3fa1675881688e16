import { ArchiveCorrupt } from '../archive-errors.js';
import { treePrefix } from '../checkpoint/checkpoint.js';
import { CompactTree } from '../merkle/compact-tree.js';
import { leafHash } from '../merkle/hashes.js';
import { splitHashes, TILE_WIDTH, TileGatherer, tileName, tileSpan } from '../merkle/tiles.js';
import { parseSegmentName, segmentsPrefix } from '../segment/names.js';
import { splitLines } from '../segment/event-lines.js';
import { storedLeaves } from '../segment/stored-leaves.js';
import { FIRST_CHAIN } from '../segment/segment-hashes.js';
import { decompress } from '../segment/segment.js';
import { loadSegment, readManifest } from '../segment/segments.js';
import { listAll } from '../store/list-all.js';
import { earlyDrop, type Drops } from './verify-drops.js';
import type { CallLedger, CallStep } from './call-ledger.js';
import type { DropStatement } from '../retention/drop-statement.js';
import { z } from 'zod';
import { treeOf, type Manifest } from '../segment/manifest.js';
import type { ArchiveStore } from '../store/archive-store.port.js';
import type { FoundEvent, ReportFault, VerifyReport } from './verify-report.js';

interface Options {
  readonly store: ArchiveStore;
  readonly partition: string;
  readonly generation: number;
  /** Chain after the previous generation; undefined for the first. */
  readonly chain: string | undefined;
  /** Number of events of the generation under the last checkpoint. */
  readonly signed: number;
  readonly drops: Drops;
  readonly ledger: CallLedger;
  readonly report: VerifyReport;
  readonly fault: ReportFault;
  readonly onEvent: (event: FoundEvent) => void;
}

/** Verifies the segments of a generation in order. Returns the chain after them. */
export async function verifyGeneration(options: Options): Promise<string | undefined> {
  const pass = new GenerationPass(options);
  for await (const name of listAll(options.store, segmentsPrefix(options.partition, options.generation))) {
    if (parseSegmentName(name)?.kind === 'manifest') await pass.next(name);
  }
  return pass.chain;
}

class GenerationPass {
  chain: string | undefined;
  private nextSeq: number | undefined;
  private firstSeq: number | undefined;
  /** Undefined after a fault. */
  private tree: CompactTree | undefined = CompactTree.empty();
  /** Undefined after a fault, when earlier leaves are unknown. */
  private tiles: TileGatherer | undefined = new TileGatherer();

  constructor(private readonly options: Options) {
    this.chain = options.chain;
  }

  async next(name: string): Promise<void> {
    const { store, report, fault, ledger, drops } = this.options;
    const manifest = await this.attempt(() => readManifest(store, name));
    if (manifest === undefined) return this.skip(undefined);
    const drop = drops.of(manifest);
    if (drop !== undefined && (await store.get(manifest.file.name)) === undefined) return this.nextDropped(name, manifest, drop);
    report.segments += 1;
    report.events += manifest.count;
    report.unsignedEvents += Math.max(0, Math.min(manifest.count, manifest.tree.size - this.options.signed));
    for (const text of this.placeFaults(manifest)) fault(name, text);
    const lines = (await this.attempt(() => loadSegment(store, manifest)))?.lines;
    if (lines === undefined) {
      await this.locate(manifest);
      return this.skip(manifest);
    }
    for (const [index, line] of lines.entries()) {
      await this.append(leafHash(line));
      const event = stepOf(line, manifest.fromSeq + index);
      const text = ledger.add(event);
      if (text !== undefined) fault(manifest.file.name, text, index + 1);
      const place = { index: manifest.fromSeq - manifest.tree.firstSeq + index, line: line.toString() };
      this.options.onEvent({ partition: manifest.partition, generation: manifest.generation, ...place, ...event });
    }
    this.finish(name, manifest);
  }

  /** Checks a dropped segment by its hashes; its calls are unknown. */
  private async nextDropped(name: string, manifest: Manifest, drop: DropStatement): Promise<void> {
    const { store, report, fault, ledger } = this.options;
    report.droppedSegments += 1;
    report.droppedEvents += manifest.count;
    for (const text of this.placeFaults(manifest)) fault(name, text);
    const early = earlyDrop(drop, manifest);
    if (early !== undefined) fault(manifest.file.name, early);
    const leaves = await this.attempt(() => storedLeaves(store, manifest));
    if (leaves === undefined) return this.skip(manifest);
    for (const leaf of leaves) await this.append(leaf);
    ledger.forget();
    this.finish(name, manifest);
  }

  private finish(name: string, manifest: Manifest): void {
    if (this.tree !== undefined && !isTreeOf(this.tree, manifest))
      this.options.fault(name, 'its tree does not follow from the events up to it');
    this.resume(manifest);
  }

  private *placeFaults({ fromSeq, prevChain, tree }: Manifest): Generator<string> {
    const { generation, ledger } = this.options;
    if (this.firstSeq === undefined && generation > 1) ledger.replace(tree.firstSeq);
    this.firstSeq ??= tree.firstSeq;
    if (tree.firstSeq !== this.firstSeq) yield `its tree begins with event ${tree.firstSeq}, expected ${this.firstSeq}`;
    const expected = this.nextSeq ?? this.firstSeq;
    const start = generation === 1 && expected === 1 ? FIRST_CHAIN : undefined;
    if (fromSeq === expected) {
      const chain = this.chain ?? start;
      if (chain !== undefined && prevChain !== chain) yield 'its hash chain does not continue the one before';
      if (this.nextSeq === undefined && fromSeq !== 1) ledger.forget();
      return;
    }
    yield `begins with event ${fromSeq}, but the one before ends with ${expected - 1}`;
    ledger.forget();
    this.tiles = undefined;
    this.tree = undefined;
  }

  /** Continues from the values of this manifest, so that one fault is not reported for all later segments. */
  private resume(manifest: Manifest): void {
    this.chain = manifest.chain;
    this.nextSeq = manifest.toSeq + 1;
    if (this.tree === undefined || !isTreeOf(this.tree, manifest)) this.tree = treeOf(manifest);
  }

  private skip(manifest: Manifest | undefined): void {
    this.tiles = undefined;
    this.options.ledger.forget();
    this.tree = undefined;
    if (manifest !== undefined) this.resume(manifest);
  }

  private async append(leaf: Buffer): Promise<void> {
    const { store, fault, signed, partition, generation } = this.options;
    this.tree?.append(leaf);
    for (const { level, index, bytes } of this.tiles?.append(leaf) ?? []) {
      const name = tileName(treePrefix(partition, generation), level, index);
      const stored = await store.get(name);
      if (stored === undefined) {
        if ((index + 1) * tileSpan(level) <= signed) fault(name, 'is missing');
      } else if (!stored.equals(bytes)) fault(name, 'differs from what the events give');
    }
  }

  /** Reports the lines that differ from the hashes in the tiles. */
  private async locate(manifest: Manifest): Promise<void> {
    const { store, fault, partition, generation } = this.options;
    const file = await store.get(manifest.file.name);
    const text = file && (await this.quietly(async () => decompress(manifest.file.name, file)));
    if (text === undefined) return;
    const first = manifest.fromSeq - manifest.tree.firstSeq;
    let tile: { index: number; hashes: readonly Buffer[] } = { index: -1, hashes: [] };
    for (const [number, line] of splitLines(text).slice(0, manifest.count).entries()) {
      const index = Math.floor((first + number) / TILE_WIDTH);
      if (tile.index !== index)
        tile = { index, hashes: splitHashes((await store.get(tileName(treePrefix(partition, generation), 0, index))) ?? Buffer.alloc(0)) };
      const hash = tile.hashes[(first + number) % TILE_WIDTH];
      if (hash !== undefined && !leafHash(line).equals(hash))
        fault(manifest.file.name, 'is not the event that was sealed here', number + 1);
    }
  }

  private async attempt<T>(read: () => Promise<T>): Promise<T | undefined> {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof ArchiveCorrupt)) throw error;
      this.options.fault(error.file, error.fault, error.line);
      return undefined;
    }
  }

  private async quietly<T>(read: () => Promise<T>): Promise<T | undefined> {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof ArchiveCorrupt)) throw error;
      return undefined;
    }
  }
}

const STEP = z.object({ type: z.string().catch(''), subject: z.string().catch(''), callver: z.number().optional().catch(undefined) });

function stepOf(line: Buffer, seq: number): CallStep {
  return { seq, ...STEP.parse(JSON.parse(line.toString())) };
}

/** Compares a tree with that of a manifest. */
function isTreeOf(found: CompactTree, { tree }: Manifest): boolean {
  const edge = found.rightEdge().map((hash) => hash.toString('hex'));
  return found.size === tree.size && found.root().toString('hex') === tree.root && edge.join() === tree.edge.join();
}
