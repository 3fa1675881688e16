import type { IncomingMessage } from 'node:http';
import { Inject, Injectable } from '@nestjs/common';
import { ProblemError, type Principal } from '#contracts';
import { telemetry } from '#observability';
import { clientAddress } from '../platform/http/client-address.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/gateway.config.js';

const RETRY_MS = 5_000;

/** Counters, and the variable that limits each. */
const COUNTED = {
  address: { limit: 'perAddress', name: 'SOCKETS_PER_ADDRESS', of: 'this address' },
  waiting: { limit: 'unauthenticated', name: 'SOCKETS_UNAUTHENTICATED', of: 'this address without a key' },
  key: { limit: 'perKey', name: 'SOCKETS_PER_KEY', of: 'this key' },
  tenant: { limit: 'perTenant', name: 'SOCKETS_PER_TENANT', of: 'this tenant' },
} as const;
type Counted = keyof typeof COUNTED;

/** One WebSocket, event stream or polling worker, counted against the limits until its release. */
export interface SocketReservation {
  /** Counts the socket for its key instead of as unauthenticated. Returns the problem if there is no room, with unchanged counts. */
  authenticate(principal: Pick<Principal, 'keyId' | 'tenantId'>): ProblemError | undefined;
  /** Releases the counts of a closed socket. Idempotent. */
  release(): void;
}

/**
 * Limits the WebSockets, event streams and polling workers open at this gateway: by key, tenant and address, and by address for
 * sockets that have not sent their key yet. Rejects new ones beyond a limit; open ones stay.
 */
@Injectable()
export class OpenSockets {
  private readonly counts = new Map<string, number>();

  constructor(@Inject(GATEWAY_CONFIG) private readonly config: Pick<GatewayConfig, 'sockets' | 'trustedProxies'>) {}

  /** @throws ProblemError `too_many_requests` if there is no room */
  open(request: IncomingMessage, principal?: Pick<Principal, 'keyId' | 'tenantId'>): SocketReservation {
    const address = clientAddress(request, this.config.trustedProxies);
    const first = this.take([
      ['address', address],
      ...(principal === undefined
        ? [['waiting', address] as const]
        : [['key', `${principal.tenantId} ${principal.keyId}`] as const, ['tenant', principal.tenantId] as const]),
    ]);
    if (first instanceof ProblemError) throw first;
    /** Undefined after the release. */
    let counterIds: readonly string[] | undefined = first;
    const release = () => {
      for (const id of counterIds ?? []) this.add(id, -1);
      counterIds = undefined;
    };
    const authenticate = ({ keyId, tenantId }: Pick<Principal, 'keyId' | 'tenantId'>) => {
      const before = counterIds;
      if (before === undefined) return undefined;
      release();
      const next = this.take([
        ['address', address],
        ['key', `${tenantId} ${keyId}`],
        ['tenant', tenantId],
      ]);
      counterIds = next instanceof ProblemError ? before : next;
      if (!(next instanceof ProblemError)) return undefined;
      for (const id of before) this.add(id, 1);
      return next;
    };
    return { authenticate, release };
  }

  /** Increments all counters, or none and returns the problem. */
  private take(wanted: readonly (readonly [Counted, string])[]): readonly string[] | ProblemError {
    const full = wanted.find(([what, of]) => (this.counts.get(`${what} ${of}`) ?? 0) >= this.config.sockets[COUNTED[what].limit]);
    if (full !== undefined) {
      const { limit, name, of } = COUNTED[full[0]];
      telemetry.rateLimited.emit({ limit: `sockets_${full[0]}` });
      const detail = `${this.config.sockets[limit]} WebSockets, event streams and polling workers of ${of} are open on this gateway; expected fewer (${name})`;
      return new ProblemError('too_many_requests', detail, { retryAfterMs: RETRY_MS });
    }
    const ids = wanted.map(([what, of]) => `${what} ${of}`);
    for (const id of ids) this.add(id, 1);
    return ids;
  }

  private add(id: string, n: number): void {
    const count = (this.counts.get(id) ?? 0) + n;
    if (count > 0) this.counts.set(id, count);
    else this.counts.delete(id);
  }
}
