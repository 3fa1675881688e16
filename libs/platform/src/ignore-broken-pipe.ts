/**
 * Keeps the process running after its terminal was closed or its pipe lost the reader: later output is discarded. Otherwise the
 * report of the failed write would fail, too.
 */
export function ignoreBrokenPipe(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
}
