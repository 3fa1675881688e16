/** A character with what belongs to it, at most 32: marks, selectors, skin tones, and others that a joiner joins. */
const GLYPH = /[^\p{M}\u200d](?:[\p{M}\u{1f3fb}-\u{1f3ff}]|\u200d\P{M}){0,32}|[\p{M}\u200d]/gsu;
const PLAIN = /^[ -~]*$/;
/** Two columns wide in terminals (Unicode TR 11). */
const WIDE =
  /^(?:\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}])/u;
const TAB = 8;

export function glyphsOf(text: string): readonly string[] {
  return PLAIN.test(text) ? text.split('') : (text.match(GLYPH) ?? []);
}

/** Columns that a glyph takes at a column. */
export function widthOf(glyph: string, column: number): number {
  if (glyph === '\t') return TAB - (column % TAB);
  return WIDE.test(glyph) ? 2 : 1;
}

/** A string for each column of a row: a glyph in its first one, nothing in the others that it takes. */
export function cellsOf(row: string): string[] {
  const cells: string[] = [];
  for (const glyph of glyphsOf(row)) {
    const end = cells.length + widthOf(glyph, cells.length);
    cells.push(glyph);
    while (cells.length < end) cells.push('');
  }
  return cells;
}

/** Blanks all columns of the glyph that takes this column. */
export function eraseGlyph(cells: string[], column: number): void {
  let from = column;
  while (from > 0 && cells[from] === '') from -= 1;
  let to = column + 1;
  while (cells[to] === '') to += 1;
  cells.fill(' ', from, to);
}
