/**
 * A closed terminal or a pipe that nobody reads any more ends no server: what is said goes nowhere from then on. Without
 * it each word said about the failure to write is another one.
 */
export function ignoreBrokenPipe(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
}
