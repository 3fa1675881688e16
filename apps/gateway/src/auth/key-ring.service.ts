import { timingSafeEqual } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { KeyEntry, Principal } from '#contracts';
import { sha256Hex } from '#redis';
import { GATEWAY_CONFIG, type GatewayConfig } from '../gateway.config.js';

interface StoredKey {
  readonly principal: Principal;
  /** ms since the epoch; Infinity = never. */
  readonly expiresAt: number;
}

interface Presented {
  readonly token: Buffer;
  readonly stored: StoredKey;
}

/**
 * The API keys this gateway knows, by SHA-256: the keys themselves are not kept, but for the last one that came on a
 * connection, as long as that is open. A look-up hashes the token first, so its time says nothing about how much of a key
 * was right; the token of the request before is recognised in constant time.
 */
@Injectable()
export class KeyRing {
  private byDigest: ReadonlyMap<string, StoredKey>;
  private lastOn = new WeakMap<object, Presented>();

  constructor(@Inject(GATEWAY_CONFIG) config: GatewayConfig) {
    this.byDigest = byDigest(config.keys);
  }

  /** Holds from the next request on; open streams of a key that is gone are closed at their next heartbeat. */
  replace(keys: readonly KeyEntry[]): void {
    this.byDigest = byDigest(keys);
    this.lastOn = new WeakMap();
  }

  /**
   * Who the token belongs to; undefined for an unknown or expired one. The answer is one shared, frozen object a key.
   * Requests of one `connection` mostly bring the same token: only the first of them is hashed.
   */
  authenticate(token: string, connection?: object, now = Date.now()): Principal | undefined {
    const stored = connection === undefined ? this.byDigest.get(sha256Hex(token)) : this.presentedOn(connection, token);
    return stored !== undefined && now < stored.expiresAt ? stored.principal : undefined;
  }

  private presentedOn(connection: object, token: string): StoredKey | undefined {
    const bytes = Buffer.from(token);
    const last = this.lastOn.get(connection);
    if (last !== undefined && last.token.length === bytes.length && timingSafeEqual(last.token, bytes)) return last.stored;
    const stored = this.byDigest.get(sha256Hex(token));
    if (stored !== undefined) this.lastOn.set(connection, { token: bytes, stored });
    return stored;
  }
}

function byDigest(keys: readonly KeyEntry[]): ReadonlyMap<string, StoredKey> {
  return new Map(
    keys.map((entry): [string, StoredKey] => {
      const expiresAt = entry.expiresAt === undefined ? Infinity : Date.parse(entry.expiresAt);
      return [entry.sha256 ?? sha256Hex(entry.key ?? ''), { principal: Object.freeze(principalOf(entry)), expiresAt }];
    }),
  );
}

function principalOf(entry: KeyEntry): Principal {
  return {
    keyId: entry.id,
    tenantId: entry.tenant,
    scopes: entry.scopes,
    ...(entry.agent === undefined ? {} : { agentId: entry.agent }),
    ...(entry.agents === undefined ? {} : { agents: entry.agents }),
    ...(entry.tools === undefined ? {} : { tools: entry.tools }),
    ...(entry.ratePerMinute === undefined ? {} : { ratePerMinute: entry.ratePerMinute }),
    ...(entry.expiresAt === undefined ? {} : { expiresAt: entry.expiresAt }),
  };
}
