const WORD_CHARACTERS = 64;

/**
 * Runs of letters and digits in lower case, without duplicates. Accents are kept; compatible forms are equal (NFKC). Names such
 * as `max_size` yield their parts and themselves.
 */
export function searchWords(text: string, limit = Infinity): string[] {
  const words = new Set<string>();
  const add = (word: string) => void (words.size < limit && word !== '' && words.add(word.slice(0, WORD_CHARACTERS).toWellFormed()));
  for (const [name] of text
    .normalize('NFKC')
    .toLowerCase()
    .matchAll(/[\p{L}\p{M}\p{N}_]+/gu)) {
    const parts = name.split('_').filter((part) => part !== '');
    parts.forEach(add);
    if (parts.length > 1) add(name);
    if (words.size >= limit) break;
  }
  return [...words];
}
