import { Inject, Injectable } from '@nestjs/common';
import { ProblemError, type ActPage, type CallFilter, type CallPage } from '#contracts';
import { CallStore, type StoredEvent } from '#event-log';
import type { CallQueries } from '../../platform/call-queries.js';
import { CALL_QUERIES } from '../../platform/tokens.js';

/** Calls per page of the list. */
const PAGE = 200;
/** Calls read concurrently. With the size of a page of events, bounds the memory of an export. */
const AT_ONCE = 8;
const EVENTS = 500;
const RETRY_MS = 5_000;

/** One event as JSON text. */
export type ExportedEvent = Pick<StoredEvent, 'json'>;

/** All events of the calls that match a filter, from the list, the log and the archive. */
@Injectable()
export class ExportCalls {
  constructor(
    @Inject(CALL_QUERIES) private readonly queries: CallQueries,
    private readonly store: CallStore,
  ) {}

  /**
   * Batches of events, call by call. Reads the first page of the list before it returns, so that errors of the request are
   * thrown here. The generator throws if an event of a listed call is missing: an export is complete or fails.
   */
  async open(tenantId: string, filter: CallFilter, withActs: boolean): Promise<AsyncGenerator<readonly ExportedEvent[]>> {
    const first = await this.page(tenantId, filter);
    const acts = withActs ? await this.acts(tenantId, filter) : undefined;
    return this.all(tenantId, filter, first, acts);
  }

  private async *all(tenantId: string, filter: CallFilter, first: CallPage, acts?: ActPage): AsyncGenerator<readonly ExportedEvent[]> {
    yield* this.batches(tenantId, filter, first);
    for (let page = acts; page !== undefined;) {
      yield page.acts.map((act) => ({ json: JSON.stringify(act) }));
      page = page.nextCursor === undefined ? undefined : await this.acts(tenantId, filter, page.nextCursor);
    }
  }

  private async *batches(tenantId: string, filter: CallFilter, first: CallPage): AsyncGenerator<readonly StoredEvent[]> {
    for (let page = first; ; page = await this.page(tenantId, filter, page.nextCursor)) {
      const ids = page.calls.map(({ id }) => id);
      for (let at = 0; at < ids.length; at += AT_ONCE) {
        const group = ids.slice(at, at + AT_ONCE);
        const firstPages = await Promise.all(group.map((id) => this.store.eventPage(id, { limit: EVENTS })));
        for (const [index, { events, nextCursor }] of firstPages.entries()) {
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

  private async acts(tenantId: string, { since, until }: CallFilter, cursor?: string): Promise<ActPage> {
    const page = await this.queries.acts(tenantId, { limit: PAGE, since, until, cursor });
    assertComplete(page);
    return page;
  }

  /** @throws ProblemError `history_unavailable`, also for a list behind the log, which would lack calls */
  private async page(tenantId: string, filter: CallFilter, cursor?: string): Promise<CallPage> {
    const page = await this.queries.page(tenantId, { ...filter, limit: PAGE, ...(cursor === undefined ? {} : { cursor }) });
    assertComplete(page);
    return page;
  }
}

function assertComplete({ behind }: Pick<CallPage, 'behind'>): void {
  if (behind === undefined) return;
  const detail = `The list of calls is ${behind.events} events behind the log, so calls would be missing: repeat the export later.`;
  throw new ProblemError('history_unavailable', detail, { retryAfterMs: RETRY_MS });
}

/** Checks that the log assigns the events to the same tenant as the rows. */
function checked(tenantId: string, events: readonly StoredEvent[]): readonly StoredEvent[] {
  const foreign = events.find(({ meta }) => meta.tenantId !== tenantId);
  if (foreign !== undefined) throw new Error(`The call ${foreign.callId} is in the list of another tenant`);
  return events;
}
