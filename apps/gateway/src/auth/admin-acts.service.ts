import { Inject, Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { ADMIN_DATA_CHARS, Json, ProblemError, type AdminData, type AdminType, type JsonValue, type Principal } from '#contracts';
import { adminPartition, EventLogUnreplicated, SystemEventLog, type EventOrigin } from '#event-log';
import { telemetry } from '#observability';
import { keys, sha256Hex } from '#redis';
import { DurableWrites } from '../platform/durable-writes.service.js';
import { eventOrigin } from '../platform/event-origin.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/gateway.config.js';
import { MemoryGuard } from '../platform/memory-guard.service.js';
import { LOGGER } from '../platform/tokens.js';
import { ApiKeyStore } from './api-key-store.service.js';
import { TokenBucket } from './token-bucket.js';

/** Administrative act, done or about to be done; without secrets. */
export interface Act {
  readonly target: string;
  /** Any JSON value; undefined members are omitted. */
  readonly before?: unknown;
  readonly after?: unknown;
  readonly reason?: string | undefined;
}

/** Act that may be done now, and whose result is then recorded. */
export interface AdmittedAct {
  /** Tenant of the act. */
  readonly tenantId: string;
  /**
   * @throws ProblemError `unavailable` if the act could not be recorded: no act succeeds without a record
   * @throws EventLogUnreplicated if too few replicas have the record
   */
  record(type: AdminType, act: Act): Promise<void>;
}

const MAX_TENANTS = 10_000;

/**
 * Admits administrative acts before they are done, and records them in the log: after the act, or before an act that a
 * repetition could not find, and always before the response. With DURABILITY=replicated the response waits for the replicas.
 */
@Injectable()
export class AdminActs {
  private readonly rates = new LRUCache<string, TokenBucket>({ max: MAX_TENANTS });

  constructor(
    private readonly log: SystemEventLog,
    private readonly apiKeys: ApiKeyStore,
    private readonly durable: DurableWrites,
    private readonly memory: MemoryGuard,
    @Inject(GATEWAY_CONFIG) private readonly config: Pick<GatewayConfig, 'name' | 'partitions' | 'tenantActsPerMinute'>,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /**
   * Admits an act before it is done. `revokes`: the act takes something away, which is possible only once; admitted even while
   * Redis is full.
   * @throws ProblemError `too_many_requests` for too many acts of the tenant, `overloaded` while Redis is full
   */
  admit(principal: Principal, { revokes }: { readonly revokes: boolean }): AdmittedAct {
    this.takeOf(principal.tenantId, revokes);
    if (!revokes) this.memory.checkAct();
    return { tenantId: principal.tenantId, record: (type, act) => this.record(principal, type, act, revokes) };
  }

  /** Separates the budget of revocations: a key that floods the tenant with acts cannot delay its own revocation. */
  private takeOf(tenantId: string, revokes: boolean): void {
    const limit = this.config.tenantActsPerMinute;
    const name = `${revokes ? 'revoke' : 'change'} ${tenantId}`;
    let bucket = this.rates.get(name);
    if (bucket === undefined) this.rates.set(name, (bucket = new TokenBucket(limit, limit / 60)));
    if (bucket.take()) return;
    telemetry.rateLimited.emit({ limit: 'tenant_acts' });
    const why = `The tenant may change keys, sessions, sources and schedules ${limit} times a minute (TENANT_ACTS_PER_MINUTE), which is exceeded`;
    throw new ProblemError('too_many_requests', why, { retryAfterMs: Math.ceil(60_000 / limit) });
  }

  private async record(principal: Principal, type: AdminType, act: Act, revokes: boolean): Promise<void> {
    const people = this.apiKeys.peopleOf(principal.keyId);
    try {
      await this.append(
        principal.tenantId,
        type,
        { ...dataOf(act), ...(people && { people: [...people] }) },
        eventOrigin(this.config.name, principal),
        revokes,
      );
      await this.durable.confirm(keys.log(adminPartition(principal.tenantId, this.config.partitions)));
    } catch (error) {
      this.logger.error(
        { err: error, type, tenant: principal.tenantId, key: principal.keyId, target: act.target },
        'an act is not recorded',
      );
      if (error instanceof EventLogUnreplicated) throw error;
      throw new ProblemError(
        'unavailable',
        'This could not be recorded in the log, and may be done or not: look at what is there now and repeat it',
      );
    }
  }

  /** Records an act of this gateway itself. Never rejects: no request waits for it. */
  async recordOwn(tenantId: string, type: AdminType, act: Act): Promise<void> {
    try {
      await this.append(tenantId, type, dataOf(act), { source: `/gateway/${this.config.name}`, actor: 'system:gateway' }, true);
    } catch (error) {
      this.logger.error({ err: error, type, tenant: tenantId, target: act.target }, 'an act is not recorded');
    }
  }

  private append(tenantId: string, type: AdminType, data: AdminData, origin: EventOrigin, revokes: boolean): Promise<void> {
    return this.log.ofAdmin(tenantId, type, data, origin, revokes);
  }
}

function dataOf({ target, before, after, reason }: Act): AdminData {
  return {
    target,
    ...(before === undefined ? {} : { before: boundedJson(before) }),
    ...(after === undefined ? {} : { after: boundedJson(after) }),
    ...(reason === undefined ? {} : { reason }),
  };
}

/** The value, or its digest if it is long. */
function boundedJson(value: unknown): JsonValue {
  const text = JSON.stringify(value) ?? 'null';
  return text.length > ADMIN_DATA_CHARS ? { sha256: sha256Hex(text), chars: text.length } : Json.parse(JSON.parse(text));
}
