/**
 * Keeps the process running when its terminal is closed or its pipe has no reader: later output is discarded. Without
 * it, reporting the failed write would fail again.
 */
export function ignoreBrokenPipe(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
}
