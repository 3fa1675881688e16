import { Inject, Injectable } from '@nestjs/common';
import type { KeyEntry, Principal } from '#contracts';
import { sha256Hex } from '#redis';
import { GATEWAY_CONFIG, type GatewayConfig } from '../gateway.config.js';

interface StoredKey {
  readonly principal: Principal;
  /** ms since the epoch; Infinity = never. */
  readonly expiresAt: number;
}

/**
 * The API keys this gateway knows, by SHA-256: the keys themselves are not kept. A look-up hashes the token first, so
 * its time says nothing about how much of a key was right.
 */
@Injectable()
export class KeyRing {
  private byDigest: ReadonlyMap<string, StoredKey>;

  constructor(@Inject(GATEWAY_CONFIG) config: GatewayConfig) {
    this.byDigest = byDigest(config.keys);
  }

  /** Holds from the next request on; open streams of a key that is gone are closed at their next heartbeat. */
  replace(keys: readonly KeyEntry[]): void {
    this.byDigest = byDigest(keys);
  }

  /** Who the token belongs to; undefined for an unknown or expired one. The answer is one shared, frozen object a key. */
  authenticate(token: string, now = Date.now()): Principal | undefined {
    const stored = this.byDigest.get(sha256Hex(token));
    return stored !== undefined && now < stored.expiresAt ? stored.principal : undefined;
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
    ...(entry.tools === undefined ? {} : { tools: entry.tools }),
    ...(entry.ratePerMinute === undefined ? {} : { ratePerMinute: entry.ratePerMinute }),
    ...(entry.expiresAt === undefined ? {} : { expiresAt: entry.expiresAt }),
  };
}
