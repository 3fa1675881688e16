import { oneLine } from './safe-text.js';

/** Fewest characters of the last column beside the others: less shows little of a command or a path. */
const LAST_CHARS = 24;

/**
 * Rows as aligned lines, cut to `width`; control characters of the cells are removed.
 *
 * No `cli-table3`: it draws borders and has no limit for the width of a whole line.
 */
export function table(rows: readonly (readonly string[])[], width: number): string[] {
  const safe = rows.map((row) => row.map((cell) => oneLine(cell, width)));
  const columns = Math.max(0, ...safe.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, column) => Math.max(...safe.map((row) => Array.from(row[column] ?? '').length)));
  return safe.map((row) => {
    const line = row
      .map((cell, column) => (column === columns - 1 ? cell : cell + ' '.repeat((widths[column] ?? 0) - Array.from(cell).length)))
      .join('  ');
    return oneWidth(line, width);
  });
}

/** Like `table`, with the subject in the last column. With less than `LAST_CHARS` left for it, it has its own line below its row, if it has text. */
export function listing(rows: readonly (readonly string[])[], width: number): string[] {
  const heads = rows.map((row) => row.slice(0, -1));
  const heading = table(heads, width);
  const room = width - Math.max(0, ...table(heads, Number.MAX_SAFE_INTEGER).map((line) => Array.from(line).length));
  if (room >= LAST_CHARS) return table(rows, width);
  return rows.flatMap((row, index) => {
    const subject = oneLine(row.at(-1) ?? '', width);
    return [heading[index] ?? '', ...(subject === '' ? [] : [oneWidth(`    ${subject}`, width)])];
  });
}

function oneWidth(line: string, width: number): string {
  const characters = Array.from(line.trimEnd());
  return characters.length <= width ? characters.join('') : `${characters.slice(0, width - 1).join('')}…`;
}
