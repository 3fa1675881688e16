import { Agent, fetch } from 'undici';
import type { EgressPolicy } from './egress-policy.js';
import { pinnedConnector } from './pinned-connector.js';

export interface EgressFetch {
  /** As the global `fetch`, to checked addresses. Redirects are answers like any other. */
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
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same interface; Node's own types of it are of another version
    return fetch(target, { ...init, redirect: 'manual', dispatcher: agent } as Parameters<typeof fetch>[1]);
  };
  return { fetch: checked, close: () => agent.destroy() };
}
