import { WebSocket } from 'ws';
import type { Problem } from '#contracts';

/** Cookies by host, as a browser keeps them between requests of one test. */
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

/** Sends a request like a browser: sends and stores cookies, follows no redirect. */
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

/** Requests of a page of the dashboard at `origin`, to the gateway at `url`. */
export class Page {
  constructor(
    readonly jar: CookieJar,
    readonly origin: string,
    readonly url = origin,
  ) {}

  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller names the form of the answer, as with Agent
  async request<T = Problem>(method: string, path: string, body?: unknown, headers: Record<string, string | undefined> = {}) {
    const all = {
      cookie: this.jar.of(this.origin),
      origin: this.origin,
      'x-toolyard-request': '1',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    };
    const sent = Object.entries(all).flatMap(([name, value]): [string, string][] => (value === undefined ? [] : [[name, value]]));
    const response = await fetch(this.url + path, { method, headers: sent, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
    this.jar.take(this.origin, response);
    return { status: response.status, body: (await response.json()) as T };
  }

  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the same
  get<T = Problem>(path: string) {
    return this.request<T>('GET', path);
  }

  async status(path = '/v1/me'): Promise<number> {
    return (await this.get(path)).status;
  }
}

/** The first frame that the gateway sends on a socket with the cookie, and the code with which it closes. */
export async function socketOf(jar: CookieJar, origin: string, from: string | undefined): Promise<{ op: string; closed: Promise<number> }> {
  const socket = new WebSocket(`${origin.replace('http', 'ws')}/v1/stream`, {
    headers: { cookie: jar.of(origin), ...(from === undefined ? {} : { origin: from }) },
  });
  const closed = new Promise<number>((resolve) => socket.once('close', resolve));
  const op = await new Promise<string>((resolve) => {
    socket.once('unexpected-response', () => resolve('refused'));
    socket.once('error', () => resolve('refused'));
    socket.once('open', () => socket.send(JSON.stringify({ op: 'auth' })));
    socket.once('message', (data: Buffer) => resolve((JSON.parse(data.toString()) as { op: string }).op));
  });
  return { op, closed };
}
