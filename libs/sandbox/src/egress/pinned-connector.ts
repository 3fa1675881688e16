import type { LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import type { EgressPolicy } from './egress-policy.js';

const CONNECT_TIMEOUT_MS = 10_000;

/** Looks names up through the policy, whose answer is what the socket connects to. Literal addresses were checked with the URL. */
export function pinnedConnector(policy: EgressPolicy): buildConnector.connector {
  return (options, callback) => {
    const lookup: LookupFunction = (hostname, { all }, done) => {
      policy.addresses(hostname, options.port).then(
        (found) => {
          const [first] = found;
          if (all === true)
            done(
              null,
              found.map(({ address, family }) => ({ address, family })),
            );
          else done(first ? null : new Error('no address'), first?.address ?? '', first?.family);
        },
        (error: unknown) => done(error instanceof Error ? error : new Error('lookup failed', { cause: error }), ''),
      );
    };
    buildConnector({ lookup, timeout: CONNECT_TIMEOUT_MS })(options, callback);
  };
}
