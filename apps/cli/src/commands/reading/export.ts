import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import { ToolyardError } from '#client';
import type { ExportFormat } from '#contracts';
import type { CommandContext } from '../../command-context.js';
import { EXIT } from '../../exit-code.js';
import { UsageError } from '../../usage-error.js';
import { filterOf, type FilterFlags } from '../call-filter.js';

export interface ExportFlags extends FilterFlags {
  readonly format: ExportFormat;
  readonly acts?: boolean;
  readonly output?: string;
}

/**
 * All events of the calls that match, to stdout or a file. The file has its name only when it is whole: until then it is
 * `<name>.part`, which a failure removes.
 *
 * @throws ToolyardError also when the connection is cut before the end
 */
export async function exportCalls({ client, terminal }: CommandContext, { format, acts, output, ...flags }: ExportFlags): Promise<number> {
  if (output === undefined && format === 'parquet' && process.stdout.isTTY)
    throw new UsageError('Parquet is not text: give a file with --output, or a pipe.');
  const body = await client.calls.export({ ...filterOf(flags, Date.now()), format, ...(acts === true ? { acts: 'true' as const } : {}) });
  const count = { bytes: 0, lines: 0 };
  const counted = counting(body, count, () => terminal.showStatus(progressOf(format, count)));
  try {
    terminal.isWhole = output === undefined;
    if (output === undefined) await toStdout(counted);
    else await toFile(counted, output);
  } catch (error) {
    throw asFailure(error);
  } finally {
    terminal.clearStatus();
  }
  terminal.note(`${progressOf(format, count)}${output === undefined ? '' : ` in ${output}`}`);
  return EXIT.completed;
}

async function toFile(data: AsyncIterable<Uint8Array>, name: string): Promise<void> {
  const part = `${name}.part`;
  try {
    await pipeline(data, createWriteStream(part, { mode: 0o600, flush: true }));
    await rename(part, name);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

/** Stays open: the process ends by itself when all is written. */
async function toStdout(data: AsyncIterable<Uint8Array>): Promise<void> {
  const source = Readable.from(data, { objectMode: false });
  source.pipe(process.stdout, { end: false });
  await finished(source);
}

async function* counting(
  body: AsyncIterable<Uint8Array>,
  count: { bytes: number; lines: number },
  report: () => void,
): AsyncGenerator<Uint8Array> {
  for await (const piece of body) {
    count.bytes += piece.byteLength;
    for (const byte of piece) if (byte === 0x0a) count.lines += 1;
    report();
    yield piece;
  }
}

function progressOf(format: ExportFormat, { bytes, lines }: { bytes: number; lines: number }): string {
  return format === 'jsonl' ? `${lines} events, ${bytes} bytes` : `${bytes} bytes`;
}

/** Errors of the file are wrong usage; all others mean that the gateway went away. */
function asFailure(error: unknown): Error {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (/^(ENOENT|EACCES|EISDIR|ENOTDIR|EROFS|ENOSPC|EPERM)$/.test(code))
    return new UsageError(`The file cannot be written: ${String(error)}`);
  return new ToolyardError(
    'unreachable',
    'The connection was cut before the end of the export: it is not complete. Repeat it.',
    undefined,
    {
      cause: error,
    },
  );
}
