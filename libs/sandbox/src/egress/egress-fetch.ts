import { Readable } from 'node:stream';
import { Agent, fetch, request } from 'undici';
import type { EgressPolicy } from './egress-policy.js';
import { pinnedConnector } from './pinned-connector.js';

export interface EgressFetch {
  /** Same as the global `fetch`, to checked addresses. Returns redirects without following them. */
  readonly fetch: (url: string | URL, init?: RequestInit) => Promise<Response>;
  /** Ends all connections. Idempotent. */
  close(): Promise<void>;
}

/**
 * `fetch` for libraries that bring a protocol of their own. Each request is checked against the policy, and each connection
 * goes to the addresses that were checked. Waiting has no limit here, since servers stream: callers set deadlines.
 */
export function egressFetch(policy: EgressPolicy): EgressFetch {
  const agent = new Agent({ connect: pinnedConnector(policy), headersTimeout: 0, bodyTimeout: 0 });
  const checked = async (url: string | URL, init: RequestInit = {}): Promise<Response> => {
    const target = policy.check(String(url));
    if (!isFetchable(init)) return sent(target, init, agent);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same interface; Node's own types of it are of another version
    return fetch(target, { ...init, redirect: 'manual', dispatcher: agent } as Parameters<typeof fetch>[1]);
  };
  return { fetch: checked, close: () => agent.destroy() };
}

/** `fetch` sends no body with GET and HEAD, and no TRACE. Servers take them. */
const isFetchable = ({ method = 'GET', body }: RequestInit): boolean =>
  method !== 'TRACE' && (body === undefined || body === null || !['GET', 'HEAD'].includes(method));

async function sent(url: URL, { method, headers, body, signal }: RequestInit, dispatcher: Agent): Promise<Response> {
  const plain = Object.fromEntries(new Headers(headers));
  const bytes = body instanceof Uint8Array ? body : undefined;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a type of undici's own, which takes any token
  const options = { method: (method ?? 'GET') as 'GET', headers: { ...plain, 'accept-encoding': 'identity' }, dispatcher };
  const answer = await request(url, { ...options, ...(bytes === undefined ? {} : { body: bytes }), ...(signal ? { signal } : {}) });
  const given = new Headers();
  for (const [name, value] of Object.entries(answer.headers)) for (const it of [value ?? []].flat()) given.append(name, it);
  const isEmpty = [204, 205, 304].includes(answer.statusCode);
  if (isEmpty) await answer.body.dump();
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Node's own types of web streams are of another version
  return new Response(isEmpty ? null : (Readable.toWeb(answer.body) as ReadableStream), { status: answer.statusCode, headers: given });
}
