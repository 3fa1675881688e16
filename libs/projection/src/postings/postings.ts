/** Calls of one (partition, tenant) are numbered from 0 in the order of their submission, and kept by segments of so many. */
export const SEGMENT = 4096;

const BITMAP_BYTES = SEGMENT / 8;

/** A set of numbers within a segment as one bit each. */
export type Bits = Uint8Array;

/**
 * A set of numbers below `SEGMENT` as stored: few as sorted 16-bit numbers, many as a bitmap, told apart by the length
 * (a bitmap is exactly 512 bytes, a list always shorter). So no set costs more than 512 bytes, and a rare value two bytes
 * for each call that has it. Undefined is the empty set.
 */
export function changePostings(stored: Buffer | undefined, changes: ReadonlyMap<number, boolean>): Buffer | undefined {
  const bits = bitsOf(stored);
  for (const [number, there] of changes) {
    if (there) bits[number >> 3] = (bits[number >> 3] ?? 0) | (1 << (number & 7));
    else bits[number >> 3] = (bits[number >> 3] ?? 0) & ~(1 << (number & 7));
  }
  const count = countBits(bits);
  if (count === 0) return undefined;
  if (2 * count >= BITMAP_BYTES) return Buffer.from(bits.buffer, bits.byteOffset, bits.length);
  const list = Buffer.allocUnsafe(2 * count);
  let at = 0;
  for (const number of numbersOf(bits)) at = list.writeUInt16LE(number, at);
  return list;
}

/** A fresh bitmap of a stored set. */
export function bitsOf(stored: Buffer | null | undefined): Bits {
  const bits = new Uint8Array(BITMAP_BYTES);
  addTo(bits, stored);
  return bits;
}

/** Adds a stored set to a bitmap. */
export function addTo(bits: Bits, stored: Buffer | null | undefined): void {
  if (stored === null || stored === undefined) return;
  if (stored.length === BITMAP_BYTES) {
    for (let at = 0; at < BITMAP_BYTES; at += 1) bits[at] = (bits[at] ?? 0) | (stored[at] ?? 0);
    return;
  }
  for (let at = 0; at + 1 < stored.length; at += 2) {
    const number = stored.readUInt16LE(at);
    bits[number >> 3] = (bits[number >> 3] ?? 0) | (1 << (number & 7));
  }
}

export function intersect(bits: Bits, others: Bits): void {
  for (let at = 0; at < BITMAP_BYTES; at += 1) bits[at] = (bits[at] ?? 0) & (others[at] ?? 0);
}

export function exclude(bits: Bits, others: Bits): void {
  for (let at = 0; at < BITMAP_BYTES; at += 1) bits[at] = (bits[at] ?? 0) & ~(others[at] ?? 0);
}

/** The numbers from `from` to below `to`. */
export function bitsBetween(from: number, to: number): Bits {
  const bits = new Uint8Array(BITMAP_BYTES);
  for (let number = Math.max(0, from); number < Math.min(to, SEGMENT); number += 1) {
    if ((number & 7) === 0 && number + 8 <= to) {
      bits[number >> 3] = 255;
      number += 7;
    } else bits[number >> 3] = (bits[number >> 3] ?? 0) | (1 << (number & 7));
  }
  return bits;
}

export function setBit(bits: Bits, number: number, there: boolean): void {
  const mask = 1 << (number & 7);
  bits[number >> 3] = there ? (bits[number >> 3] ?? 0) | mask : (bits[number >> 3] ?? 0) & ~mask;
}

const BIT_COUNTS = Uint8Array.from({ length: 256 }, (_, byte) => byte.toString(2).replaceAll('0', '').length);

export function countBits(bits: Bits): number {
  let count = 0;
  for (const byte of bits) count += BIT_COUNTS[byte] ?? 0;
  return count;
}

/** Rising. */
export function numbersOf(bits: Bits): number[] {
  const numbers: number[] = [];
  for (let at = 0; at < bits.length; at += 1) {
    const byte = bits[at] ?? 0;
    for (let bit = 0; byte >> bit > 0; bit += 1) if ((byte >> bit) & 1) numbers.push(at * 8 + bit);
  }
  return numbers;
}
