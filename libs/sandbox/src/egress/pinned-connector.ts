import type { LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import type { EgressPolicy } from './egress-policy.js';

const CONNECT_TIMEOUT_MS = 10_000;

/** Looks names up through the policy, whose answer is what the socket connects to. Literal addresses were checked with the URL. */
export function pinnedConnector(policy: EgressPolicy): buildConnector.connector {
  return (options, callback) => {
    buildConnector({ lookup: pinnedLookup(policy, options.port), timeout: CONNECT_TIMEOUT_MS })(options, callback);
  };
}

/** The same for sockets of Node. `port` as it stands in the URL, empty where it does not. */
export function pinnedLookup(policy: EgressPolicy, port: string): LookupFunction {
  return (hostname, { all }, done) => {
    policy.addresses(hostname, port).then(
      (found) => {
        const [first] = found;
        if (first === undefined) done(new Error('no address'), '');
        else if (all === true)
          done(
            null,
            found.map(({ address, family }) => ({ address, family })),
          );
        else done(null, first.address, first.family);
      },
      (error: unknown) => done(error instanceof Error ? error : new Error('lookup failed', { cause: error }), ''),
    );
  };
}
