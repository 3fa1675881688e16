import { codedCause, type EgressFetch } from '#sandbox';

/** Nothing was answered at an address. The message is for the operator and names the address without its query. */
export class AddressFault extends Error {
  override readonly name = 'AddressFault';
}

const CLOSED = ['Connection closed without an answer', 'what does the log of the server say?'] as const;
const SILENT = ['No connection in time', 'does a firewall stop it?'] as const;
const NO_ROUTE = ['No route', 'is that network reachable from the worker?'] as const;

/** Description of an error, and a hint what to check. */
const REASONS: Readonly<Record<string, readonly [string, string]>> = {
  ECONNREFUSED: ['Connection refused', 'is the server running?'],
  ENOTFOUND: ['Host name not found', 'is the name right?'],
  EAI_AGAIN: ['Host name not resolved', 'does name resolution (DNS) work on the worker?'],
  ECONNRESET: CLOSED,
  EPIPE: CLOSED,
  UND_ERR_SOCKET: CLOSED,
  ETIMEDOUT: SILENT,
  UND_ERR_CONNECT_TIMEOUT: SILENT,
  EHOSTUNREACH: NO_ROUTE,
  ENETUNREACH: NO_ROUTE,
};

/** The same fetch, whose failures name the address and the reason. */
export function namedFetch(guarded: EgressFetch): EgressFetch {
  return {
    close: () => guarded.close(),
    fetch: (url, init) =>
      guarded.fetch(url, init).catch((error: unknown) => {
        throw (init?.signal?.aborted === true ? undefined : addressFault(error, url)) ?? error;
      }),
  };
}

/** Undefined for what is no fault of the network, such as a refusal of the egress policy. */
export function addressFault(error: unknown, url: string | URL): AddressFault | undefined {
  const cause = codedCause(error);
  const [what, check] = (cause && (REASONS[cause.code] ?? tlsReason(cause))) ?? [];
  if (what === undefined) return undefined;
  const { origin, pathname } = new URL(url);
  return new AddressFault(`${what} at ${origin}${pathname}: ${check}`, { cause: error });
}

/** OpenSSL has a code for each of many faults; what Node says of certificates is for people. */
function tlsReason({ code, message }: { readonly code: string; readonly message: string }): readonly [string, string] | undefined {
  if (code.startsWith('ERR_SSL_') || code === 'EPROTO') return ['TLS failed', 'does the server speak https there, or http?'];
  if (!/CERT|^UNABLE_TO_|^ERR_TLS_/.test(code)) return undefined;
  return [`TLS failed (${message})`, 'is the certificate one that the worker trusts?'];
}
