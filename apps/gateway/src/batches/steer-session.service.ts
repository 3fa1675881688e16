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

/**
 * Queues a person's message to a session, without its secrets and hidden characters. The next batch of the session takes all
 * messages, once and in order.
 */
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

  /** Messages of people to the session, oldest first. */
  async list({ tenantId }: Principal, sessionId: string): Promise<SessionMessages> {
    return { messages: await this.store.steeringOfSession(tenantId, sessionId) };
  }

  /**
   * Rejects with `conflict` if too many messages wait, since no batch takes them; with `quota_exceeded` if the tenant's
   * sessions have too many bytes. `of`: sender of an agent's message; the same id is queued once.
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
    // Counts again: other messages may have come meanwhile, the oldest been dropped, and a message without room is not stored.
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

  /** Counts the stored messages, and a further one if it fits, which is stored twice: as waiting and as last message. */
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
