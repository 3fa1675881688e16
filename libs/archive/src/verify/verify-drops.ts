import { ArchiveCorrupt } from '../archive-errors.js';
import { DROP_PREFIX, dropsPrefix, parseDropName, type DropStatement } from '../retention/drop-statement.js';
import { readDrop } from '../retention/drops.js';
import { segmentName } from '../segment/names.js';
import { readManifest } from '../segment/segments.js';
import { listAll } from '../store/list-all.js';
import type { Manifest } from '../segment/manifest.js';
import type { NoteVerifier } from '../checkpoint/signed-note.js';
import type { ArchiveStore } from '../store/archive-store.port.js';
import type { ReportFault } from './verify-report.js';

interface Options {
  readonly store: ArchiveStore;
  readonly keys: readonly NoteVerifier[];
  readonly published: ArchiveStore | undefined;
  readonly fault: ReportFault;
}

const DAY_MS = 24 * 3_600_000;

/** Valid statements about segments that may lack their events. */
export class Drops {
  private readonly statements = new Map<string, DropStatement[]>();

  add(statement: DropStatement): void {
    const key = dropsPrefix(statement.partition, statement.generation);
    this.statements.set(key, [...(this.statements.get(key) ?? []), statement]);
  }

  /** Statement that covers a segment; undefined if its events must exist. */
  of({ partition, generation, fromSeq, toSeq }: Manifest): DropStatement | undefined {
    return this.statements
      .get(dropsPrefix(partition, generation))
      ?.find((statement) => statement.fromSeq <= fromSeq && toSeq <= statement.toSeq);
  }
}

/** Checks all statements about dropped segments: signatures, names, trees, and published copies. */
export async function verifyDrops({ store, keys, published, fault }: Options): Promise<Drops> {
  const drops = new Drops();
  for await (const name of listAll(store, DROP_PREFIX)) {
    if (parseDropName(name) === undefined) continue;
    try {
      const { statement, note } = await readDrop(store, name, keys);
      const copy = await published?.get(name);
      if (copy !== undefined && copy.toString() !== note) fault(name, `differs from what was published to ${published?.label}`);
      await checkTree(store, name, statement);
      drops.add(statement);
    } catch (error) {
      if (!(error instanceof ArchiveCorrupt)) throw error;
      fault(error.file, error.fault);
    }
  }
  if (published === undefined) return drops;
  for await (const name of listAll(published, DROP_PREFIX)) {
    if ((await store.get(name)) === undefined) fault(name, `is missing, but was published to ${published.label}`);
  }
  return drops;
}

/** Fault of a drop before the end of the days; undefined for a valid drop. The newest event belongs to one of the tenants. */
export function earlyDrop({ time, rules }: DropStatement, { lastTime }: Manifest): string | undefined {
  const days = Math.min(...rules.map((rule) => rule.days));
  return lastTime + days * DAY_MS <= time ? undefined : `was dropped before the ${days} days of its last event were over`;
}

async function checkTree(store: ArchiveStore, name: string, { partition, generation, toSeq, root }: DropStatement): Promise<void> {
  const { tree } = await readManifest(store, segmentName({ partition, generation, toSeq }, 'manifest'));
  if (tree.root !== root.toString('hex')) throw new ArchiveCorrupt(name, 'is about another tree than the archive has');
}
