export interface TextChunk {
  /** Index of the first character in the text. */
  readonly start: number;
  readonly text: string;
}

export interface ChunkSizes {
  readonly characters: number;
  /** Most characters that a chunk repeats of the previous one. */
  readonly overlap: number;
}

export const DEFAULT_CHUNKS: ChunkSizes = { characters: 1_200, overlap: 150 };

/** Preferred borders of chunks, best first. */
const BORDERS = ['\n\n', '\n', '. ', ' '];

/**
 * Splits a text into overlapping parts of a limited length that together are the whole text. Cuts at paragraphs, lines,
 * sentences or words if one ends in the second half of a part, and never within a character. Pure.
 */
export function chunkText(text: string, { characters, overlap }: ChunkSizes = DEFAULT_CHUNKS): TextChunk[] {
  const chunks: TextChunk[] = [];
  for (let start = 0; start < text.length;) {
    const end = endOf(text, start, characters);
    chunks.push({ start, text: text.slice(start, end) });
    if (end === text.length) break;
    const next = startAfter(text, start, end, overlap);
    start = endOf(text, next, characters) > end ? next : end;
  }
  return chunks;
}

function endOf(text: string, start: number, characters: number): number {
  const most = wholeCharacter(text, start + characters);
  if (most >= text.length) return text.length;
  const least = start + Math.ceil(characters / 2);
  for (const border of BORDERS) {
    const at = text.lastIndexOf(border, most - border.length);
    if (at + border.length > least) return at + border.length;
  }
  return most > start ? most : Math.min(text.length, start + 2);
}

function startAfter(text: string, start: number, end: number, overlap: number): number {
  const back = end - overlap;
  const word = text.indexOf(' ', back - 1) + 1;
  const wanted = word > 0 && word < end ? word : back;
  const next = wholeCharacter(text, wanted);
  return next > start && next < end ? next : end;
}

/** Index of the whole character: the same, or the previous one within a surrogate pair. */
function wholeCharacter(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff && /[\ud800-\udbff]/.test(text.charAt(at - 1)) ? at - 1 : at;
}
