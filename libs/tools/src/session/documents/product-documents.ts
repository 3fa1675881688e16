import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The top of the project, or of `dist/`. */
const TOP = fileURLToPath(new URL('../../../../../', import.meta.url));
const FOLDERS = ['apps', 'libs', 'deploy'];

/** Section of a document, below a heading. */
export interface Section {
  readonly path: string;
  readonly heading: string;
  readonly text: string;
}

/** Documents of the product by path: those that the build put into `dist/documents`, or the sources. */
export function productDocuments(top: string = TOP): ReadonlyMap<string, string> {
  const built = join(top, 'documents');
  const root = existsSync(built) ? built : top;
  const paths = ['README.md', ...FOLDERS.flatMap((folder) => documentsBelow(root, folder))];
  return new Map(paths.map((path) => [path, readFileSync(join(root, path), 'utf8')]));
}

/** Markdown files without the records of decisions, sorted. */
function documentsBelow(root: string, folder: string): string[] {
  const entries = readdirSync(join(root, folder), { withFileTypes: true });
  return entries
    .flatMap((entry) => {
      const path = `${folder}/${entry.name}`;
      if (entry.isDirectory()) return ['decisions', 'node_modules'].includes(entry.name) ? [] : documentsBelow(root, path);
      return entry.name.endsWith('.md') ? [path] : [];
    })
    .sort();
}

/** Splits at headings; a `#` within a block of code is none. Pure. */
export function sectionsOf(path: string, text: string): Section[] {
  const sections: { path: string; heading: string; lines: string[] }[] = [];
  let isCode = false;
  for (const line of text.split('\n')) {
    if (line.startsWith('```')) isCode = !isCode;
    const [, heading] = isCode ? [] : (/^#{1,4} (.+)$/.exec(line) ?? []);
    if (heading !== undefined || sections.length === 0) sections.push({ path, heading: heading ?? path, lines: [] });
    sections.at(-1)?.lines.push(line);
  }
  return sections.map(({ lines, ...section }) => ({ ...section, text: lines.join('\n').trim() }));
}

/** The sections that have most of the words, rare words first; none without any. Pure. */
export function sectionsAbout(query: string, sections: readonly Section[], most: number): Section[] {
  const words = [...new Set(wordsOf(query))];
  const texts = sections.map(({ heading, text }) => ({ heading: new Set(wordsOf(heading)), text: new Set(wordsOf(text)) }));
  const weights = words.map((word) => Math.log(1 + sections.length / (1 + texts.filter(({ text }) => text.has(word)).length)));
  const average = texts.reduce((sum, { text }) => sum + text.size, 0) / texts.length;
  const scored = texts.map(({ heading, text }, index) => {
    const sum = words.reduce((all, word, at) => all + (text.has(word) ? 1 : 0) * (heading.has(word) ? 3 : 1) * (weights[at] ?? 0), 0);
    // A long section has some of any words.
    return { section: sections[index], score: sum / (0.5 + (0.5 * text.size) / average) };
  });
  const found = scored.filter(({ score }) => score > 0).sort((one, other) => other.score - one.score);
  return found.slice(0, most).flatMap(({ section }) => section ?? []);
}

/** Plurals count as the singular, and `fourEyes` as two words. */
function wordsOf(text: string): string[] {
  const apart = text.replaceAll(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
  return (apart.match(/[a-z0-9_]{2,}/g) ?? []).map((word) => (word.length > 3 ? word.replace(/s$/, '') : word));
}
