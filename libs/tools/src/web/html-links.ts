const BASE = /<base\b[^<>]{0,1024}?\shref\s{0,8}=\s{0,8}(?:"([^"<>]{1,2048})"|'([^'<>]{1,2048})')/i;
const LINK = /(<(?:a|img)\b[^<>]{0,1024}?\s(?:href|src)\s{0,8}=\s{0,8})(?:"([^"<>]{1,2048})"|'([^'<>]{1,2048})')/gi;
/** A place on this page, or another scheme: both mean the same wherever they are read. */
const STAYS = /^\s*(?:#|[a-z][a-z\d+.-]*:)/i;

/** The page with the links and pictures that are relative made absolute, so that a reader can follow them. Linear in time. */
export function withAbsoluteLinks(html: string, url: string): string {
  const named = BASE.exec(html);
  const base = resolved(named?.[1] ?? named?.[2] ?? '', url);
  return html.replaceAll(LINK, (whole, before: string, double?: string, single?: string) => {
    const given = double ?? single ?? '';
    return STAYS.test(given) ? whole : `${before}"${resolved(given, base).replaceAll('"', '%22')}"`;
  });
}

function resolved(given: string, base: string): string {
  return URL.canParse(given, base) ? new URL(given, base).href : given;
}
