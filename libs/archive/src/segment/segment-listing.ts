import { parseSegmentName, segmentName, segmentsPrefix } from './names.js';
import type { ArchiveStore } from '../store/archive-store.port.js';

/** Text that sorts after every name below the same folder. */
const END = '~';

/** Names in one read: a file and its manifest, and a few files without a manifest. */
const NEXT_NAMES = 8;

/** Generations of a partition, ascending. */
export async function generationsOf(store: ArchiveStore, partition: string): Promise<number[]> {
  const prefix = segmentsPrefix(partition);
  const generations: number[] = [];
  let after = '';
  for (;;) {
    const [name] = await store.list(prefix, { after, limit: 1 });
    if (name === undefined) return generations.toSorted((a, b) => a - b);
    const folder = name.slice(0, name.indexOf('/', prefix.length) + 1);
    const generation = parseSegmentName(name)?.generation;
    if (generation !== undefined) generations.push(generation);
    after = folder === '' ? name : folder + END;
  }
}

/** Name of the first manifest whose segment ends at `seq` or later. */
export async function nextSegmentName(
  store: ArchiveStore,
  partition: string,
  generation: number,
  seq: number,
): Promise<string | undefined> {
  let after = segmentName({ partition, generation, toSeq: Math.max(0, seq - 1) }, 'file');
  for (;;) {
    const names = await store.list(segmentsPrefix(partition, generation), { after, limit: NEXT_NAMES });
    const manifest = names.find((name) => parseSegmentName(name)?.kind === 'manifest');
    if (manifest !== undefined || names.length < NEXT_NAMES) return manifest;
    after = names.at(-1) ?? after;
  }
}

/** Finds the last name by steps that double, then halve, since names can only be listed upwards. */
export async function lastSegmentName(store: ArchiveStore, partition: string, generation: number): Promise<string | undefined> {
  return lastName(
    (seq) => nextSegmentName(store, partition, generation, seq),
    (name) => parseSegmentName(name)?.toSeq ?? 0,
  );
}

/** Last of numbered names; `next` finds the first name at a number or later. */
export async function lastName(
  next: (from: number) => Promise<string | undefined>,
  numberOf: (name: string) => number,
): Promise<string | undefined> {
  let last: string | undefined;
  let from = 0;
  let step = 1;
  for (;;) {
    const name = await next(from + step - 1);
    if (name !== undefined) {
      last = name;
      from = numberOf(name) + 1;
      step *= 2;
    } else if (step === 1) return last;
    else step = Math.max(1, Math.floor(step / 4));
  }
}
