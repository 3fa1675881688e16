/** Media types with the extension of their files and, where they have any, the bytes that they begin with (hexadecimal, `.` for any digit). */
const KINDS: readonly (readonly [type: string, extension: string, start?: RegExp])[] = [
  ['audio/wav', '.wav', /^52494646.{8}57415645/],
  ['image/webp', '.webp', /^52494646.{8}57454250/],
  ['image/png', '.png', /^89504e47/],
  ['image/jpeg', '.jpg', /^ffd8ff/],
  ['image/gif', '.gif', /^47494638/],
  ['application/pdf', '.pdf', /^25504446/],
  ['application/zip', '.zip', /^504b0304/],
  ['application/gzip', '.gz', /^1f8b/],
  ['audio/mpeg', '.mp3', /^(?:494433|fff[ab23])/],
  ['audio/flac', '.flac', /^664c6143/],
  ['audio/ogg', '.ogg', /^4f676753/],
  ['audio/mp4', '.m4a', /^.{8}667479704d3441/],
  ['video/mp4', '.mp4', /^.{8}66747970/],
  ['video/webm', '.webm', /^1a45dfa3/],
  ['text/csv', '.csv'],
  ['text/plain', '.txt'],
  ['text/html', '.html'],
  ['text/markdown', '.md'],
  ['application/json', '.json'],
  ['application/x-ndjson', '.jsonl'],
  ['application/jsonl', '.jsonl'],
  ['application/xml', '.xml'],
  ['image/svg+xml', '.svg'],
  ['application/yaml', '.yaml'],
];
const START_BYTES = 16;

/** The type of a file and the extension that its name gets: by the type that is given, else by its first bytes. */
export function kindOfFile(bytes: Uint8Array, given: string | undefined): { readonly type: string; readonly extension: string } {
  const start = Buffer.from(bytes.subarray(0, START_BYTES)).toString('hex');
  const wanted = given?.split(';')[0]?.trim().toLowerCase();
  const found = KINDS.find(([type, , begins]) => (wanted === undefined ? begins?.test(start) === true : type === wanted));
  const [type = 'application/octet-stream', extension = ''] = found ?? [];
  return { type: given ?? type, extension };
}
