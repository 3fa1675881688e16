import { gunzipSync, gzipSync } from 'node:zlib';
import { z } from 'zod';
import type { ArchivedCall } from '#event-log';

/** Call whose End is in a segment: its keys in Redis, and its large values by name and SHA-256. */
export interface EndedCall extends ArchivedCall {
  readonly id: string;
  readonly values: Readonly<Record<string, string>>;
  /** True if the values are encrypted with the key of the call. */
  readonly encrypted?: boolean | undefined;
}

const Line = z.object({
  id: z.string(),
  snapshot: z.base64(),
  updates: z.base64(),
  values: z.record(z.string(), z.string()),
  encrypted: z.boolean().optional(),
});
const MAX_BYTES = 256 * 1024 * 1024;

/** Encodes calls as compressed lines of JSON. Not part of the proof: all of it follows from the events and values. */
export function encodeEndedCalls(calls: readonly EndedCall[]): Buffer {
  const lines = calls.map(({ id, snapshot, updateIndex, values, encrypted }) =>
    JSON.stringify({ id, snapshot: snapshot.toString('base64'), updates: updateIndex.toString('base64'), values, encrypted }),
  );
  return gzipSync(lines.join('\n'));
}

/** Inverse of `encodeEndedCalls`, by id. @throws Error for anything else */
export function decodeEndedCalls(file: Uint8Array): ReadonlyMap<string, EndedCall> {
  const text = gunzipSync(file, { maxOutputLength: MAX_BYTES }).toString('utf8');
  const calls = text === '' ? [] : text.split('\n').map((line) => Line.parse(JSON.parse(line)));
  return new Map(
    calls.map(({ id, snapshot, updates, values, encrypted }) => [
      id,
      {
        id,
        snapshot: Buffer.from(snapshot, 'base64'),
        updateIndex: Buffer.from(updates, 'base64'),
        values,
        ...(encrypted && { encrypted }),
      },
    ]),
  );
}
