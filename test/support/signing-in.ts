/** What a browser keeps between requests of one test, without a browser: cookies by their host. */
export class CookieJar {
  private readonly cookies = new Map<string, Map<string, string>>();

  of(url: string): string {
    return [...(this.cookies.get(new URL(url).host) ?? new Map<string, string>())].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  take(url: string, response: Response): void {
    const { host } = new URL(url);
    const kept = this.cookies.get(host) ?? new Map<string, string>();
    this.cookies.set(host, kept);
    for (const cookie of response.headers.getSetCookie()) {
      const [pair = '', ...attributes] = cookie.split(';');
      const at = pair.indexOf('=');
      const isGone = attributes.some((it) => /^\s*max-age=0$/i.test(it)) || /expires=Thu, 01 Jan 1970/i.test(cookie);
      if (isGone) kept.delete(pair.slice(0, at));
      else kept.set(pair.slice(0, at), pair.slice(at + 1));
    }
  }
}

/** One step of a browser: sends and keeps cookies, follows nothing. */
export async function visit(jar: CookieJar, url: string, headers: Record<string, string> = {}): Promise<Response> {
  const cookie = jar.of(url);
  const all = { accept: 'text/html', ...(cookie === '' ? {} : { cookie }), ...headers };
  const response = await fetch(url, { redirect: 'manual', headers: all });
  jar.take(url, response);
  return response;
}

/** Follows redirects until there is none, or one leads to an address that `until` matches. Returns that address, and the last answer. */
export async function follow(jar: CookieJar, from: string, until?: RegExp): Promise<{ readonly url: string; readonly response: Response }> {
  for (let url = from, left = 12; ; left -= 1) {
    const response = await visit(jar, url);
    const location = response.headers.get('location');
    if (location === null || left === 0) return { url, response };
    url = new URL(location, url).href;
    if (until?.test(url) === true) return { url, response };
  }
}
