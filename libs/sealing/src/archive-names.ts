import type { Manifest } from '#archive';
import { partitionOf } from '#redis';

/** The calls that ended in a segment (`encodeEndedCalls`), named like its file. */
export function endedCallsName({ file }: Pick<Manifest, 'file'>): string {
  return file.name.replace(/^segments\//, 'calls/');
}

/** A large value, by its content. */
export function valueName(sha256: string): string {
  return `values/${sha256.slice(0, 2)}/${sha256}`;
}

/** Says in which segment a call ended that was submitted two or more segments earlier: the last number of that segment. */
export function lateEndName(callId: string): string {
  return `late/p${partitionOf(callId)}/${callId}`;
}
