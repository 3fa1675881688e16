import { Duplex, PassThrough, pipeline, type Readable } from 'node:stream';
import * as zlib from 'node:zlib';
import { EgressError } from './egress-error.js';

/** A small file may unpack to a huge one: both are limited. */
export const MAX_BODY_BYTES = 5 * 1_048_576;

/** A body, unpacked, up to a size. Rejects with an EgressError for an encoding that is not known. */
export async function readBody(raw: Readable, encoding: string, maxBytes: number): Promise<{ body: Buffer; truncated: boolean }> {
  const unpack = unpackerOf(encoding);
  if (unpack === undefined) {
    discard(raw);
    throw new EgressError('failed', `Could not fetch: the content encoding "${encoding.slice(0, 40)}" is not supported`);
  }
  const wire = { left: Math.max(maxBytes, MAX_BODY_BYTES), cut: false };
  const limited = async function* (source: AsyncIterable<Buffer>) {
    for await (const chunk of source) {
      wire.cut = chunk.length > wire.left;
      yield chunk.subarray(0, wire.left);
      if (wire.cut) return;
      wire.left -= chunk.length;
    }
  };
  const unpacked = pipeline(raw, limited, unpack, () => undefined);
  const chunks: Buffer[] = [];
  let bytes = 0;
  // Leaving the loop early destroys the whole chain, and with it the connection.
  for await (const chunk of unpacked as AsyncIterable<Buffer>) {
    const room = maxBytes - bytes;
    chunks.push(chunk.subarray(0, room));
    bytes += Math.min(chunk.length, room);
    if (chunk.length > room) return { body: Buffer.concat(chunks), truncated: true };
  }
  return { body: Buffer.concat(chunks), truncated: wire.cut };
}

const { Z_SYNC_FLUSH, BROTLI_OPERATION_FLUSH } = zlib.constants;
const zstd = zstdOf(zlib);

export const ACCEPTED_ENCODINGS = `gzip, deflate, br${zstd === undefined ? '' : ', zstd'}`;

/** Releases of Node from 22.15 on have it; the types of older ones do not. */
function zstdOf(library: object): (() => Duplex) | undefined {
  const create: unknown = Reflect.get(library, 'createZstdDecompress');
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  return typeof create === 'function' ? (create as () => Duplex) : undefined;
}

/** Names that servers give to plain text by mistake, which browsers read as it is. */
const PLAIN = new Set([
  '',
  'identity',
  'none',
  'utf-8',
  'utf8',
  'binary',
  'aws-chunked',
  'chunked',
  '7bit',
  '8bit',
  'us-ascii',
  'iso-8859-1',
]);

/** Decompressor that accepts truncated streams. Single layer only, since decompression bombs are nested by more. */
function unpackerOf(encoding: string): Duplex | undefined {
  const [layer = '', ...more] = encoding
    .toLowerCase()
    .split(',')
    .map((it) => it.trim())
    .filter((it) => !PLAIN.has(it));
  if (more.length > 0) return undefined;
  switch (layer) {
    case '':
      return new PassThrough();
    case 'gzip':
    case 'x-gzip':
      return zlib.createGunzip({ finishFlush: Z_SYNC_FLUSH });
    case 'deflate':
      return Duplex.from(inflated);
    case 'br':
      return zlib.createBrotliDecompress({ finishFlush: BROTLI_OPERATION_FLUSH });
    case 'zstd':
      return zstd?.();
    default:
      return undefined;
  }
}

/** `deflate` with the header of zlib, as the standard has it, or without, as many servers send it. */
async function* inflated(source: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  const chunks = source[Symbol.asyncIterator]();
  let start = Buffer.alloc(0);
  for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) {
    start = Buffer.concat([start, next.value]);
    if (start.length >= 2) break;
  }
  const hasHeader = start.length < 2 || ((start[0] ?? 0) % 16 === 8 && start.readUInt16BE() % 31 === 0);
  const unpack = hasHeader ? zlib.createInflate({ finishFlush: Z_SYNC_FLUSH }) : zlib.createInflateRaw({ finishFlush: Z_SYNC_FLUSH });
  const whole = async function* () {
    yield start;
    yield* { [Symbol.asyncIterator]: () => chunks };
  };
  yield* pipeline(whole, unpack, () => undefined) as AsyncIterable<Buffer>;
}

/** Stops the download of a body that is not read. */
export function discard(body: Readable): void {
  body.on('error', () => undefined);
  body.destroy();
}
