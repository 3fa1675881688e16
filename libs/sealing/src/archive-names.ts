import type { Manifest } from '#archive';
import { partitionOf } from '#redis';

/** Name of the calls that ended in a segment (`encodeEndedCalls`), derived from its file. */
export function endedCallsName({ file }: Pick<Manifest, 'file'>): string {
  return file.name.replace(/^segments\//, 'calls/');
}

export function endedCallsPrefix(partition: string, generation: number): string {
  return `calls/p${partition}/g${generation}/`;
}

/** Name of a large value by its content, below the segment in which its call ended and with the same retention. */
export function valueName(segment: Pick<Manifest, 'file'>, sha256: string): string {
  return `${valuesPrefix(segment)}${sha256}`;
}

/** `segments/p07/g1/0000000000004096.jsonl.gz` → `values/p07/g1/0000000000004096/` */
export function valuesPrefix({ file }: Pick<Manifest, 'file'>): string {
  return `${file.name.replace(/^segments\//, 'values/').replace(/\.jsonl\.gz$/, '')}/`;
}

/** Name of a reference to the segment (its last number) in which a call ended that was submitted two or more segments earlier. */
export function lateEndName(callId: string): string {
  return `late/p${partitionOf(callId)}/${callId}`;
}
