import type { ArchiveStore } from '#archive';
import { decodeSnapshot } from '#event-log';
import type { RedisConnection } from '#redis';
import { valueName } from '../archive-names.js';
import { ArchivedLog, type FoundCall } from '../read/archived-log.js';
import { readPosition } from '../seal/archive-position.js';
import type { RetainedKeys } from './retained-keys.port.js';
import { isPast, type ArchiveDays } from './retention-rule.js';

const PAGE = 500;
const DAY_MS = 24 * 3_600_000;

/**
 * Deletes the keys and large values of expired calls whose segment other tenants still keep, which makes their content
 * unreadable. Safe to repeat.
 */
export class KeyShredder {
  private readonly archived: ArchivedLog;

  constructor(
    private readonly redis: RedisConnection,
    private readonly store: ArchiveStore,
    private readonly keys: RetainedKeys,
  ) {
    this.archived = new ArchivedLog(store);
  }

  async round(partition: string, policy: () => ArchiveDays, nowMs: number): Promise<void> {
    const { trimmedSeq } = await readPosition(this.redis, partition);
    for (const tenantId of await this.keys.tenants()) {
      const days = policy()(tenantId);
      if (days === undefined) continue;
      const submittedBefore = nowMs - days * DAY_MS;
      for (let after = ''; ;) {
        const page = await this.keys.older({ tenantId, partition, submittedBefore, after, limit: PAGE });
        await this.shred(page, ({ call, segment }) => {
          const { meta } = decodeSnapshot(call.id, call.snapshot);
          return segment.toSeq <= trimmedSeq && isPast(segment.lastTime, policy()(tenantId, meta), nowMs);
        });
        if (page.length < PAGE) break;
        after = page.at(-1) ?? after;
      }
    }
  }

  private async shred(callIds: readonly string[], mayGo: (found: FoundCall) => boolean): Promise<void> {
    const shreddedIds: string[] = [];
    for (const callId of callIds) {
      const found = await this.archived.archivedCall(callId);
      if (found === undefined || !mayGo(found)) continue;
      for (const sha256 of Object.values(found.call.values)) await this.store.delete(valueName(found.segment, sha256));
      shreddedIds.push(callId);
    }
    if (shreddedIds.length > 0) await this.keys.delete(shreddedIds);
  }
}
