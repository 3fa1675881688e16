import { Inject, Injectable } from '@nestjs/common';
import { ProblemError, type CallFilter, type CallPage } from '#contracts';
import { CallStore, type StoredEvent } from '#event-log';
import type { CallQueries } from '../../platform/call-queries.js';
import { CALL_QUERIES } from '../../platform/tokens.js';

/** Calls of a page of the list. */
const PAGE = 200;
/** Calls that are read at once: this and the size of a page of events bound the memory of an export. */
const AT_ONCE = 8;
const EVENTS = 500;
const RETRY_MS = 5_000;

/** All events of the calls that fit a filter, from the list, the log and the archive. */
@Injectable()
export class ExportCalls {
  constructor(
    @Inject(CALL_QUERIES) private readonly queries: CallQueries,
    private readonly store: CallStore,
  ) {}

  /**
   * Batches of events, call by call. The first page of the list is read before it returns, so that what is wrong with the
   * request is thrown here. Throws later, also where an event of a listed call is gone: an export is whole or has failed.
   */
  async open(tenantId: string, filter: CallFilter): Promise<AsyncGenerator<readonly StoredEvent[]>> {
    const first = await this.page(tenantId, filter);
    return this.batches(tenantId, filter, first);
  }

  private async *batches(tenantId: string, filter: CallFilter, first: CallPage): AsyncGenerator<readonly StoredEvent[]> {
    for (let page = first; ; page = await this.page(tenantId, filter, page.nextCursor)) {
      const ids = page.calls.map(({ id }) => id);
      for (let at = 0; at < ids.length; at += AT_ONCE) {
        const group = ids.slice(at, at + AT_ONCE);
        const begun = await Promise.all(group.map((id) => this.store.eventPage(id, { limit: EVENTS })));
        for (const [index, { events, nextCursor }] of begun.entries()) {
          const id = group[index] ?? '';
          if (events.length === 0 && nextCursor === undefined) throw new Error(`The events of ${id}, which is in the list, are gone`);
          yield checked(tenantId, events);
          yield* this.rest(tenantId, id, nextCursor);
        }
      }
      if (page.nextCursor === undefined) return;
    }
  }

  private async *rest(tenantId: string, callId: string, from: string | undefined): AsyncGenerator<readonly StoredEvent[]> {
    for (let cursor = from; cursor !== undefined;) {
      const { events, nextCursor } = await this.store.eventPage(callId, { cursor, limit: EVENTS });
      yield checked(tenantId, events);
      cursor = nextCursor;
    }
  }

  /** @throws ProblemError `history_unavailable` also for a list that is behind the log, which would lack calls */
  private async page(tenantId: string, filter: CallFilter, cursor?: string): Promise<CallPage> {
    const page = await this.queries.page(tenantId, { ...filter, limit: PAGE, ...(cursor === undefined ? {} : { cursor }) });
    if (page.behind === undefined) return page;
    const detail = `The list of calls is ${page.behind.events} events behind the log, so calls would be missing: repeat the export later.`;
    throw new ProblemError('history_unavailable', detail, { retryAfterMs: RETRY_MS });
  }
}

/** Rows and log are about the same tenant, whatever made the rows. */
function checked(tenantId: string, events: readonly StoredEvent[]): readonly StoredEvent[] {
  const foreign = events.find(({ meta }) => meta.tenantId !== tenantId);
  if (foreign !== undefined) throw new Error(`The call ${foreign.callId} is in the list of another tenant`);
  return events;
}
