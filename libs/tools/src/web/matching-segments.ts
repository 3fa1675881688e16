const MOST_MATCHES = 10;
const FIRST_SEGMENTS = 20;

export interface Segments {
  readonly text: string;
  readonly note?: string;
}

/** Paragraphs of a text with one of the words, and their neighbours; the first paragraphs if there is no match. */
export function matchingSegments(text: string, terms: string): Segments {
  const segments = text.split(/\n\s*\n/).filter((segment) => segment.trim() !== '');
  const words = terms
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((word) => word !== '');
  const matching = segments
    .flatMap((segment, index) => {
      const lower = segment.toLowerCase();
      return words.some((word) => lower.includes(word)) ? [index] : [];
    })
    .slice(0, MOST_MATCHES);
  if (matching.length === 0) {
    const note = `no paragraph has any of the search terms: the first ${Math.min(FIRST_SEGMENTS, segments.length)} of ${segments.length} are shown`;
    return { text: segments.slice(0, FIRST_SEGMENTS).join('\n\n'), note };
  }
  const kept = [...new Set(matching.flatMap((index) => [index - 1, index, index + 1]))].filter(
    (index) => index >= 0 && index < segments.length,
  );
  const blocks = kept.map((index, place) =>
    place > 0 && kept[place - 1] !== index - 1 ? `[...]\n\n${segments[index] ?? ''}` : (segments[index] ?? ''),
  );
  return { text: blocks.join('\n\n'), note: `${kept.length} of ${segments.length} paragraphs are shown: those around the search terms` };
}
