const MOST_CHARS = 300;

/** The last line that is not empty, after another piece of output. `before` is the one so far, which the piece may continue. */
export function lastLineOf(before: string, piece: string): string {
  const lines = piece.split(/\r\n|\n|\r/);
  const last = lines.findLast((line) => line.trim() !== '');
  return last === undefined ? before : last.slice(0, MOST_CHARS);
}
