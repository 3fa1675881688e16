import { ProblemError } from '#contracts';

/** Place of a reader in one partition. */
export interface Position {
  readonly epoch: number;
  readonly seq: number;
}

const POINT = /^(\d{1,9})\.(\d{1,3})\.(\d{1,15})$/;
const ONE_EPOCH = 1;
const EPOCH_EACH = 2;

/** Cursor of a call or a session, which are in one partition: `<epoch>.<partition>.<seq>`, the form of an event's id. */
export function encodeScalarCursor(partition: number, { epoch, seq }: Position): string {
  return `${epoch}.${partition}.${seq}`;
}

/** Throws `invalid_request` for anything but a position in this partition. */
export function decodeScalarCursor(text: string, partition: number): Position {
  const match = POINT.exec(text);
  if (!match || Number(match[2]) !== partition)
    throw malformed(`<epoch>.${partition}.<seq>, as in the id of an event of this call or session`);
  return { epoch: Number(match[1]), seq: Number(match[3]) };
}

/**
 * Cursor of a wider filter: the positions of all partitions in order, as base64url of varints. At 16 partitions it fits into
 * the reason of a WebSocket close frame. Opaque for readers.
 */
export function encodeVectorCursor(positions: readonly Position[]): string {
  const [first] = positions;
  const sameEpoch = first !== undefined && positions.every(({ epoch }) => epoch === first.epoch);
  const numbers = sameEpoch
    ? [ONE_EPOCH, first.epoch, ...positions.map(({ seq }) => seq)]
    : [EPOCH_EACH, ...positions.flatMap(({ epoch, seq }) => [epoch, seq])];
  const bytes: number[] = [];
  for (const number of numbers) writeVarint(bytes, number);
  return Buffer.from(bytes).toString('base64url');
}

/** Throws `invalid_request` for anything but a map of this many partitions. */
export function decodeVectorCursor(text: string, partitions: number): Position[] {
  const numbers = /^[\w-]+$/.test(text) ? readVarints(Buffer.from(text, 'base64url')) : undefined;
  const [version, ...rest] = numbers ?? [];
  if (version === ONE_EPOCH && rest.length === partitions + 1) {
    const [epoch = 0, ...seqs] = rest;
    return seqs.map((seq) => ({ epoch, seq }));
  }
  if (version === EPOCH_EACH && rest.length === 2 * partitions) {
    return Array.from({ length: partitions }, (_, index) => ({ epoch: rest[2 * index] ?? 0, seq: rest[2 * index + 1] ?? 0 }));
  }
  throw malformed('the cursor of an earlier frame of the same kind of subscription, unchanged');
}

function malformed(expected: string): ProblemError {
  return new ProblemError('invalid_request', `The cursor cannot be read. Expected ${expected}.`, {
    errors: [{ pointer: '/cursor', message: `expected ${expected}` }],
  });
}

/** Little-endian base 128. Division instead of shifts: sequence numbers may pass 32 bits. */
function writeVarint(bytes: number[], value: number): void {
  let rest = value;
  while (rest >= 128) {
    bytes.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  bytes.push(rest);
}

/** Undefined if the last number is cut off or a number is too large to be exact. */
function readVarints(bytes: Uint8Array): number[] | undefined {
  const numbers: number[] = [];
  let value = 0;
  let unit = 1;
  for (const byte of bytes) {
    value += (byte % 128) * unit;
    if (!Number.isSafeInteger(value)) return undefined;
    unit *= 128;
    if (byte < 128) {
      numbers.push(value);
      value = 0;
      unit = 1;
    }
  }
  return unit === 1 ? numbers : undefined;
}
