import { Injectable } from '@nestjs/common';
import { ulid } from 'ulidx';
import { BATCH_LIMITS, ProblemError, type Principal, type SessionMessages, type Steered, type SteeringMessage } from '#contracts';
import { personText } from '../platform/event-origin.js';
import { RedactionConfigService } from '../governance/redaction-config.service.js';
import { SessionStore } from '../sessions/session-store.service.js';
import { MemoryGuard } from '../platform/memory-guard.service.js';
import { SessionRoom } from '../sessions/session-room.service.js';
import { SessionEventPublisher } from '../sessions/session-event-publisher.service.js';
import { BatchStore, KEPT_SECONDS } from './batch-store.service.js';

const KEPT_MS = KEPT_SECONDS * 1_000;

/** Queues what a person says to a session, without its secrets and hidden characters. The next batch of the session that looks takes it, once and in order. */
@Injectable()
export class SteerSessionService {
  constructor(
    private readonly store: BatchStore,
    private readonly events: SessionEventPublisher,
    private readonly safety: RedactionConfigService,
    private readonly memory: MemoryGuard,
    private readonly room: SessionRoom,
    sessions: SessionStore,
  ) {
    sessions.onEnd.add(async ({ tenantId }, sessionId) => {
      await this.store.forgetSteering(tenantId, sessionId);
      await this.count(tenantId, sessionId);
    });
  }

  /** What people said to the session, oldest first. */
  async list({ tenantId }: Principal, sessionId: string): Promise<SessionMessages> {
    return { messages: await this.store.steeringOfSession(tenantId, sessionId) };
  }

  /**
   * Rejects with `conflict` when too many messages wait: no agent takes them; with `quota_exceeded` when the sessions of the
   * tenant have too much. `of` names a message of an agent: with the same
   * id it is queued once.
   */
  async steer(
    principal: Principal,
    sessionId: string,
    text: string,
    of?: { readonly id: string; readonly from: string },
  ): Promise<Steered> {
    const { keyId, person } = principal;
    const { id, from } = of ?? { id: ulid(), from: `apikey:${keyId}` };
    const byName = of !== undefined || person === undefined ? {} : { fromName: personText(person) };
    const queued = of === undefined ? undefined : await this.queuedBefore(principal, sessionId, id);
    if (queued !== undefined) return queued;
    const message = { id, message: this.safety.of(principal.tenantId).text(text), from, ...byName, at: new Date().toISOString() };
    this.memory.check('normal');
    await this.count(principal.tenantId, sessionId, message);
    const { waiting, bytes } = await this.store.queueSteering(principal.tenantId, sessionId, message);
    // Again: other messages may have come meanwhile, the oldest left, and a message that found no room is not kept.
    await this.room.count(principal.tenantId, sessionId, 'messages', { bytes, lifeMs: KEPT_MS, always: true });
    if (waiting <= 0) {
      throw new ProblemError(
        'conflict',
        `${BATCH_LIMITS.steeringMessages} messages wait in this session already; a batch takes them between its steps`,
      );
    }
    await this.events.publish(principal, sessionId, 'session.steered', { messageId: message.id, waiting });
    return { message, waiting };
  }

  /** Counts what Redis keeps of the messages, and a further one if it fits: it is among those that wait, and among the last ones. */
  private async count(tenantId: string, sessionId: string, further?: SteeringMessage): Promise<void> {
    const more = further === undefined ? 0 : 2 * Buffer.byteLength(JSON.stringify(further));
    const bytes = more + (await this.store.steeringBytes(tenantId, sessionId));
    await this.room.count(tenantId, sessionId, 'messages', { bytes, lifeMs: KEPT_MS, always: further === undefined });
  }

  private async queuedBefore(principal: Principal, sessionId: string, id: string): Promise<Steered | undefined> {
    const { messages } = await this.list(principal, sessionId);
    const message = messages.find((it) => it.id === id);
    return message && { message, waiting: messages.filter(({ taken }) => !taken).length };
  }
}
