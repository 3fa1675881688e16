import { distance } from 'fastest-levenshtein';

/** The names that `wanted` was probably meant to be, nearest first: few typing errors away, or one name inside the other. */
export function closestNames(wanted: string, names: Iterable<string>, limit: number): string[] {
  const folded = fold(wanted);
  const scored: { name: string; score: number }[] = [];
  for (const name of names) {
    const candidate = fold(name);
    const contained = folded.length >= 3 && candidate.length >= 3 && (candidate.includes(folded) || folded.includes(candidate));
    const score = contained ? Math.abs(candidate.length - folded.length) / 4 : distance(folded, candidate);
    if (contained || score <= Math.max(1, Math.floor(folded.length * 0.34))) scored.push({ name, score });
  }
  return scored
    .sort((a, b) => a.score - b.score || (a.name < b.name ? -1 : 1))
    .slice(0, limit)
    .map(({ name }) => name);
}

/** `fsRead`, `fs-read` and `FS_READ` are the same guess. Long inputs are cut: the cost is the product of both lengths. */
function fold(name: string): string {
  return name.slice(0, 128).toLowerCase().replaceAll(/[-_.]/g, '');
}
