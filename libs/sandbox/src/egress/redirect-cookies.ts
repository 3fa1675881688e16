interface StoredCookie {
  readonly value: string;
  readonly host: string;
  /** `Domain` attribute with the host itself or a domain around it; undefined: for this host alone. */
  readonly domain: string | undefined;
  readonly path: string;
  readonly secure: boolean;
}

const MOST_COOKIES = 50;
const LONGEST_COOKIE = 4_096;

/**
 * The cookies of one fetch with its redirects, as RFC 6265 has them: many pages redirect to themselves until their cookie
 * comes back. Nothing of it outlives the fetch. A domain of one label (`com`) is for no one.
 */
export class RedirectCookies {
  private readonly stored = new Map<string, StoredCookie>();

  /** Stores the cookies of a response. Ignores cookies for other hosts. */
  keep(url: URL, headers: readonly string[]): void {
    for (const header of headers) this.keepOne(url, header);
  }

  /** The header for a request to this place: those of longer paths first, then those that came first. Undefined without cookies. */
  headerFor(url: URL): string | undefined {
    const fitting = [...this.stored].filter(([, cookie]) => fits(cookie, url));
    const ordered = fitting.toSorted(([, one], [, other]) => other.path.length - one.path.length);
    const pairs = ordered.map(([key, { value }]) => `${key.slice(0, key.indexOf('\n'))}=${value}`);
    return pairs.length === 0 ? undefined : pairs.join('; ');
  }

  private keepOne(url: URL, header: string): void {
    const [pair = '', ...rest] = header.split(';');
    const name = pair.slice(0, pair.indexOf('=')).trim();
    // oxlint-disable-next-line no-control-regex -- a header with control characters is no cookie
    if (!pair.includes('=') || name === '' || header.length > LONGEST_COOKIE || /[\u0000-\u0008\u000a-\u001f\u007f]/.test(header)) return;
    const given = new Map(rest.map((text) => attribute(text)));
    const domain = given.get('domain')?.replace(/^\./, '').toLowerCase();
    if (domain !== undefined && domain !== '' && !isInDomain(url.hostname, domain)) return;
    const path = given.get('path')?.startsWith('/') === true ? (given.get('path') ?? '/') : defaultPath(url);
    const key = [name, domain ?? url.hostname, path].join('\n');
    if (hasExpired(given)) this.stored.delete(key);
    if (hasExpired(given) || (this.stored.size >= MOST_COOKIES && !this.stored.has(key))) return;
    const cookie = { value: pair.slice(pair.indexOf('=') + 1).trim(), host: url.hostname, path, secure: given.has('secure') };
    this.stored.set(key, { ...cookie, domain: domain === '' ? undefined : domain });
  }
}

function attribute(text: string): [string, string] {
  const [name = '', ...value] = text.split('=');
  return [name.trim().toLowerCase(), value.join('=').trim()];
}

function hasExpired(given: ReadonlyMap<string, string>): boolean {
  const age = given.get('max-age');
  if (age !== undefined && /^-?\d+$/.test(age)) return Number(age) <= 0;
  return Date.parse(given.get('expires') ?? '') <= Date.now();
}

function fits({ host, domain, path, secure }: StoredCookie, url: URL): boolean {
  if (secure && url.protocol !== 'https:') return false;
  if (domain === undefined ? url.hostname !== host : !isInDomain(url.hostname, domain)) return false;
  return url.pathname === path || (url.pathname.startsWith(path) && (path.endsWith('/') || url.pathname[path.length] === '/'));
}

function isInDomain(host: string, domain: string): boolean {
  return host === domain || (domain.includes('.') && host.endsWith(`.${domain}`) && !/^[\d.]+$|:/.test(host));
}

function defaultPath({ pathname }: URL): string {
  return pathname.slice(0, pathname.lastIndexOf('/')) || '/';
}
