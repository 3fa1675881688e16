import { Inject, Injectable } from '@nestjs/common';
import type { Logger } from 'pino';
import { ADMIN_DATA_CHARS, Json, ProblemError, type AdminData, type AdminType, type JsonValue, type Principal } from '#contracts';
import { adminPartition, EventLogUnreplicated, SystemEventLog, type EventOrigin } from '#event-log';
import { keys, sha256Hex } from '#redis';
import { DurableWrites } from '../platform/durable-writes.service.js';
import { eventOrigin } from '../platform/event-origin.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/gateway.config.js';
import { LOGGER } from '../platform/tokens.js';
import { ApiKeyStore } from './api-key-store.service.js';

/** What was done, or is done next where it cannot be undone; without secrets. */
export interface Act {
  readonly target: string;
  /** Anything that JSON can hold: members that are undefined are left out. */
  readonly before?: unknown;
  readonly after?: unknown;
  readonly reason?: string | undefined;
}

/**
 * Records administrative acts in the log: after they were done, or before what a repetition would not find, and always before
 * they are answered. With DURABILITY=replicated the answer waits for the replicas.
 */
@Injectable()
export class AdminActs {
  constructor(
    private readonly log: SystemEventLog,
    private readonly apiKeys: ApiKeyStore,
    private readonly durable: DurableWrites,
    @Inject(GATEWAY_CONFIG) private readonly config: Pick<GatewayConfig, 'name' | 'partitions'>,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /**
   * @throws ProblemError `unavailable` when the act could not be recorded: no act is answered as done without a record
   * @throws EventLogUnreplicated when too few replicas have the record
   */
  async record(principal: Principal, type: AdminType, act: Act): Promise<void> {
    const people = this.apiKeys.peopleOf(principal.keyId);
    try {
      await this.append(
        principal.tenantId,
        type,
        { ...dataOf(act), ...(people && { people: [...people] }) },
        eventOrigin(this.config.name, principal),
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

  /** What this gateway did by itself. Never rejects: no request waits for it. */
  async recordOwn(tenantId: string, type: AdminType, act: Act): Promise<void> {
    try {
      await this.append(tenantId, type, dataOf(act), { source: `/gateway/${this.config.name}`, actor: 'system:gateway' });
    } catch (error) {
      this.logger.error({ err: error, type, tenant: tenantId, target: act.target }, 'an act is not recorded');
    }
  }

  private append(tenantId: string, type: AdminType, data: AdminData, origin: EventOrigin): Promise<void> {
    return this.log.ofAdmin(tenantId, type, data, origin);
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

/** The value, or its digest where it is long. */
function boundedJson(value: unknown): JsonValue {
  const text = JSON.stringify(value) ?? 'null';
  return text.length > ADMIN_DATA_CHARS ? { sha256: sha256Hex(text), chars: text.length } : Json.parse(JSON.parse(text));
}
