import { Injectable } from '@nestjs/common';
import { LIMITS, type CallDebugLog, type Principal } from '#contracts';
import { upcastEvent } from '#event-log';
import { CallReader } from '../read/call-reader.service.js';
import { DebugEntries } from './debug-entries.js';

/** The debug log of a call, from its events. Ids of another tenant answer as if they did not exist. */
@Injectable()
export class DebugLogService {
  constructor(private readonly reader: CallReader) {}

  async read(principal: Principal, callId: string): Promise<CallDebugLog> {
    const log = new DebugEntries();
    let traceparent: string | undefined;
    for (let cursor: string | undefined; ;) {
      const page = await this.reader.events(principal, callId, { cursor, limit: LIMITS.eventsPage });
      for (const { json } of page.events) {
        const event = upcastEvent(json);
        traceparent ??= event.traceparent;
        log.add(event);
      }
      cursor = page.nextCursor;
      if (cursor === undefined) break;
    }
    return { callId, ...(traceparent === undefined ? {} : { traceparent }), entries: [...log.all()] };
  }
}
