import { Injectable } from '@nestjs/common';
import type { CancelBody, Principal, SessionCancelled } from '#contracts';
import { CallStore } from '#event-log';
import { CancelCallService } from '../calls/cancel-call.service.js';
import { RedactionConfigService } from '../governance/redaction-config.service.js';
import { SessionEventPublisher } from '../sessions/session-event-publisher.service.js';
import { BatchStore } from './batch-store.service.js';
import { SessionCancelChannel } from '../sessions/session-cancel-channel.service.js';

const AT_ONCE = 100;

/**
 * Stops everything in a session: first the batches, so that they start nothing more, then calls in their hooks, then every call
 * that has not ended, then the sessions that it began. Batches stop the calls that they started meanwhile. Safe to repeat.
 */
@Injectable()
export class CancelSessionService {
  /** Called and awaited when the calls of a session are cancelled. */
  readonly onCancel = new Set<(principal: Principal, sessionId: string, request: CancelBody) => Promise<unknown>>();

  constructor(
    private readonly batches: BatchStore,
    private readonly cancels: SessionCancelChannel,
    private readonly store: CallStore,
    private readonly cancelCall: CancelCallService,
    private readonly events: SessionEventPublisher,
    private readonly safety: RedactionConfigService,
  ) {}

  async cancel(principal: Principal, sessionId: string, request: CancelBody): Promise<SessionCancelled> {
    const { tenantId } = principal;
    const detail = request.reason === undefined ? 'The session was cancelled' : this.safety.of(principal.tenantId).text(request.reason);
    const running = await this.batches.runningOf(tenantId, sessionId);
    const stopped = await Promise.all(running.map((id) => this.batches.stop(id, { reason: 'cancelled', detail })));
    await this.cancels.publish(tenantId, sessionId);

    const calls = await this.store.listOpen(this.batches.partitionOf(tenantId, sessionId), tenantId, sessionId);
    for (let from = 0; from < calls.length; from += AT_ONCE) {
      await Promise.all(calls.slice(from, from + AT_ONCE).map((callId) => this.cancelCall.cancel(principal, callId, request)));
    }
    await Promise.all([...this.onCancel].map((listener) => listener(principal, sessionId, request)));
    const done = { calls: calls.length, batches: stopped.filter(Boolean).length };
    await this.events.publish(principal, sessionId, 'session.cancelled', done);
    return { sessionId, ...done };
  }
}
