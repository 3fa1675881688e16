import { ToolError } from '#tool-sdk';

/** First bytes of the image formats that models accept. The name of a file does not determine its content. */
const SIGNATURES: readonly { mimeType: string; matches: (bytes: Buffer) => boolean }[] = [
  { mimeType: 'image/png', matches: (bytes) => bytes.subarray(0, 8).equals(Buffer.from('89504e470d0a1a0a', 'hex')) },
  { mimeType: 'image/jpeg', matches: (bytes) => bytes.subarray(0, 3).equals(Buffer.from('ffd8ff', 'hex')) },
  { mimeType: 'image/gif', matches: (bytes) => ['GIF87a', 'GIF89a'].includes(bytes.toString('latin1', 0, 6)) },
  { mimeType: 'image/webp', matches: (bytes) => bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP' },
  // "BM", and the size that the header states: two letters alone begin many a text.
  {
    mimeType: 'image/bmp',
    matches: (bytes) => bytes.length >= 26 && bytes.toString('latin1', 0, 2) === 'BM' && bytes.readUInt32LE(2) === bytes.length,
  },
];

export function imageType(bytes: Buffer): string | undefined {
  return SIGNATURES.find(({ matches }) => matches(bytes))?.mimeType;
}

/** The text of a UTF-8 file, byte order mark and all. Throws a ToolError when it is something else. */
export function decodeText(bytes: Buffer, shown: string): string {
  const refused = (what: string): ToolError =>
    new ToolError('tool_failed', `Cannot read ${shown}: it is ${what} (${bytes.length.toLocaleString('en-US')} bytes), not UTF-8 text.`);
  if (hasUtf16Mark(bytes)) throw refused('UTF-16 text, which the command "iconv -f UTF-16 -t UTF-8" converts');
  if (bytes.includes(0)) throw refused('a binary file');
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw refused('a binary file, or text in an older encoding, which a command such as "iconv -f WINDOWS-1252 -t UTF-8" converts');
  }
}

export function hasUtf16Mark(bytes: Buffer): boolean {
  return ['fffe', 'feff'].includes(bytes.toString('hex', 0, 2));
}
