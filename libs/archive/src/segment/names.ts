/** Digits of sequence numbers in names: those of the largest safe integer, so that names sort like numbers. */
const DIGITS = 16;

export function segmentsPrefix(partition: string, generation?: number): string {
  return generation === undefined ? `segments/p${partition}/` : `segments/p${partition}/g${generation}/`;
}

/** `segments/p07/g1/0000000000004096.jsonl.gz`, and `.json` for its manifest. */
export function segmentName(segment: { partition: string; generation: number; toSeq: number }, kind: 'file' | 'manifest'): string {
  const suffix = kind === 'file' ? '.jsonl.gz' : '.json';
  return `${segmentsPrefix(segment.partition, segment.generation)}${numberText(segment.toSeq)}${suffix}`;
}

/** Name of the leaf hashes of a dropped segment: `log/p07/g1/leaves/0000000000004096`. */
export function leavesName({ partition, generation, toSeq }: { partition: string; generation: number; toSeq: number }): string {
  return `log/p${partition}/g${generation}/leaves/${numberText(toSeq)}`;
}

/** Parts of the name of a segment; undefined for any other name. */
export function parseSegmentName(
  name: string,
): { partition: string; generation: number; toSeq: number; kind: 'file' | 'manifest' } | undefined {
  const [, partition, generation, seq, suffix] = /^segments\/p(\d{2,3})\/g([1-9]\d{0,8})\/(\d{16})\.(json|jsonl\.gz)$/.exec(name) ?? [];
  if (partition === undefined) return undefined;
  return { partition, generation: Number(generation), toSeq: Number(seq), kind: suffix === 'json' ? 'manifest' : 'file' };
}

export function numberText(value: number): string {
  return String(value).padStart(DIGITS, '0');
}
