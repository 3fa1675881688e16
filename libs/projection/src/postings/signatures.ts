import type { Bits } from './postings.js';

/**
 * Free text is found by bit-sliced signatures (superimposed coding, see C. Faloutsos, "Access methods for text", 1985):
 * each beginning of a word (3, 5 and 8 letters) sets one of `SLICES` bits of its call, and bits are stored by slice for a block of
 * `BLOCK` calls. A query reads only the slices of its words; what they leave is checked against the records. So a call
 * costs `SLICES` bits whatever its words are: nobody can blow the index up with new words.
 */
export const BLOCK = 512;
export const SLICES = 1024;
export const SLICE_BYTES = BLOCK / 8;
export const BLOCK_BYTES = SLICES * SLICE_BYTES;

const STARTS = [3, 5, 8];

/** The slices that the beginnings of a word set; none for a word of one or two letters. */
function slicesOf(word: string): number[] {
  const slices: number[] = [];
  // FNV-1a
  let hash = 0x811c9dc5;
  for (let at = 0; at < word.length && at < 8; at += 1) {
    hash = Math.imul(hash ^ word.charCodeAt(at), 0x01000193);
    if (STARTS.includes(at + 1)) slices.push((hash ^ (hash >>> 15)) & (SLICES - 1));
  }
  return slices;
}

/** Each once. For a query: all of them must be set in a call that has such words. */
export function slicesOfWords(words: readonly string[]): number[] {
  return [...new Set(words.flatMap(slicesOf))];
}

/** The stored form of a full block: `calls` are the slices that each of its calls sets. */
export function signatureBlock(calls: readonly (readonly number[])[]): Buffer {
  const block = Buffer.alloc(BLOCK_BYTES);
  calls.forEach((slices, call) => {
    for (const slice of slices) {
      const at = slice * SLICE_BYTES + (call >> 3);
      block[at] = (block[at] ?? 0) | (1 << (call & 7));
    }
  });
  return block;
}

/** Where the bit of a call stands among the bits of a segment's signatures, by the count of Redis: the highest bit of a byte first. */
export function bitOffset(call: number, slice: number): number {
  const within = call % BLOCK;
  const byte = Math.floor(call / BLOCK) * BLOCK_BYTES + slice * SLICE_BYTES + (within >> 3);
  return byte * 8 + (7 - (within & 7));
}

/** The calls of a block that all slices have: `found` holds these slices of the block one after the other. */
export function callsWithAll(found: Buffer, into: Bits, block: number): void {
  const start = block * SLICE_BYTES;
  for (let at = 0; at < SLICE_BYTES; at += 1) {
    let byte = 255;
    for (let slice = at; slice < found.length; slice += SLICE_BYTES) byte &= found[slice] ?? 0;
    into[start + at] = byte;
  }
}
