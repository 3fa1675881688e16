/** Elements whose content is not for reading. `title` is among them because it is shown apart. */
const NOISE = /<(script|style|noscript|template|svg|iframe|title)\b|<!--/gi;

/**
 * The page without scripts, styles, drawings and comments, in one pass over any input. An element that is never closed
 * takes the rest of the page with it, as it does in a browser.
 */
export function stripBoilerplate(html: string): string {
  const kept: string[] = [];
  let from = 0;
  NOISE.lastIndex = 0;
  for (let match = NOISE.exec(html); match !== null; match = NOISE.exec(html)) {
    kept.push(html.slice(from, match.index));
    // oxlint-disable-next-line no-restricted-globals -- the names of elements above
    const closer = match[1] === undefined ? /-->/g : new RegExp(`</${match[1]}\\s{0,16}>`, 'gi');
    closer.lastIndex = match.index + match[0].length;
    if (closer.exec(html) === null) return kept.join('');
    from = closer.lastIndex;
    NOISE.lastIndex = from;
  }
  kept.push(html.slice(from));
  return kept.join('');
}

/** The raw content of the first `title`, at most 1,000 characters, or undefined. */
export function titleOf(html: string): string | undefined {
  return /<title\b[^>]{0,200}>([^<]{1,1000})/i.exec(html.slice(0, 262_144))?.[1];
}

/** Readable text without a parser: for pages that a parser cannot take in time. Entities other than the common five stay. */
export function toPlainText(html: string): string {
  const lines = stripBoilerplate(html).replace(/<\/?(?:p|div|br|li|tr|h[1-6]|ul|ol|table|section|article)\b[^<>]{0,4096}>/gi, '\n');
  return decodeCommon(lines.replace(/<[^<>]{0,4096}>/g, ' '))
    .split('\n')
    .map((line) => line.replaceAll(/[ \t\r\f]+/g, ' ').trim())
    .filter((line) => line !== '')
    .join('\n');
}

const COMMON: Readonly<Record<string, string>> = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'", '&nbsp;': ' ', '&amp;': '&' };

function decodeCommon(text: string): string {
  return text.replaceAll(/&(?:lt|gt|quot|#39|nbsp|amp);/g, (entity) => COMMON[entity] ?? entity);
}
