import type { LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import { EgressError } from './egress-error.js';
import type { EgressPolicy } from './egress-policy.js';

const CONNECT_TIMEOUT_MS = 10_000;

/** Looks names up through the policy, whose answer is what the socket connects to. Literal addresses were checked with the URL. */
export function pinnedConnector(policy: EgressPolicy): buildConnector.connector {
  return (options, callback) => {
    buildConnector({ lookup: pinnedLookup(policy, options.port), timeout: CONNECT_TIMEOUT_MS })(options, callback);
  };
}

/** More than the largest body: the rest are headers, interim answers and chunk extensions, which the parser takes without end. */
const MOST_BYTES = 16 * 1_048_576;
const LOOK_MS = 50;

/** The same, for one short answer a connection: a server that sends more than 16 MiB in all is cut off. */
export function boundedConnector(policy: EgressPolicy): buildConnector.connector {
  const connect = pinnedConnector(policy);
  return (options, callback) => {
    connect(options, (...[error, socket]) => {
      if (error !== null) return callback(error, null);
      const look = setInterval(() => {
        if (socket.bytesRead > MOST_BYTES) socket.destroy(new EgressError('failed', 'Could not fetch: the server sent too much'));
      }, LOOK_MS).unref();
      socket.once('close', () => clearInterval(look));
      callback(null, socket);
    });
  };
}

/** The same as `pinnedConnector`, for sockets of Node. `port` as it stands in the URL, empty where it does not. */
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
