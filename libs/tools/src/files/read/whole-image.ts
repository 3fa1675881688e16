import { crc32 } from 'node:zlib';

/** True if an image of this type is complete. Reads its structure, not its pixels. Pure. */
export function isWholeImage(bytes: Buffer, mimeType: string): boolean {
  return CHECKS[mimeType]?.(bytes) ?? true;
}

/** Types without an entry are checked by `imageType`, by size. */
const CHECKS: Readonly<Record<string, (bytes: Buffer) => boolean>> = {
  'image/png': isWholePng,
  'image/jpeg': isWholeJpeg,
  'image/gif': isWholeGif,
  'image/webp': isWholeWebp,
};

/** Chunks of length, type, data and CRC, from IHDR to IEND. https://www.w3.org/TR/png-3/#5DataRep */
function isWholePng(bytes: Buffer): boolean {
  let hasPixels = false;
  for (let at = 8; at + 12 <= bytes.length;) {
    const end = at + 12 + bytes.readUInt32BE(at);
    const type = bytes.toString('latin1', at + 4, at + 8);
    if (end > bytes.length || (at === 8 && type !== 'IHDR')) return false;
    if (crc32(bytes.subarray(at + 4, end - 4)) !== bytes.readUInt32BE(end - 4)) return false;
    if (type === 'IEND') return hasPixels;
    hasPixels ||= type === 'IDAT';
    at = end;
  }
  return false;
}

const JPEG = { mark: 0xff, scan: 0xda, end: Buffer.from('ffd9', 'hex') };

/** Segments with their lengths until the first scan; behind it, the mark of the end. ITU-T T.81, annex B. */
function isWholeJpeg(bytes: Buffer): boolean {
  for (let at = 2; at + 4 <= bytes.length;) {
    const kind = bytes[at + 1];
    if (bytes[at] !== JPEG.mark) return false;
    // Any number of these bytes may stand before a segment.
    if (kind === JPEG.mark) {
      at += 1;
      continue;
    }
    at += 2 + bytes.readUInt16BE(at + 2);
    if (kind === JPEG.scan) return bytes.indexOf(JPEG.end, at) >= 0;
  }
  return false;
}

const GIF = { extension: 0x21, image: 0x2c, end: 0x3b };

/** Blocks until the trailer. GIF89a, sections 17 to 27. */
function isWholeGif(bytes: Buffer): boolean {
  const byteAt = (at: number): number => bytes[at] ?? 0;
  const table = (flags: number): number => (flags >= 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0);
  let hasImage = false;
  for (let at = 13 + table(byteAt(10)); at < bytes.length;) {
    const kind = bytes[at];
    if (kind === GIF.end) return hasImage;
    if (kind !== GIF.extension && kind !== GIF.image) return false;
    hasImage ||= kind === GIF.image;
    // A descriptor with its colours and the size of the first code, or the label of an extension.
    at += kind === GIF.image ? 11 + table(byteAt(at + 9)) : 2;
    while (byteAt(at) > 0) at += byteAt(at) + 1;
    at += 1;
  }
  return false;
}

/** The size that the header states. https://www.rfc-editor.org/rfc/rfc9649#section-2.4 */
function isWholeWebp(bytes: Buffer): boolean {
  return bytes.length > 20 && bytes.readUInt32LE(4) + 8 <= bytes.length;
}
