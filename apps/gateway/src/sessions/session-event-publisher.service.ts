import { Inject, Injectable } from '@nestjs/common';
import type { Logger } from 'pino';
import type { NoticeData, Principal, SessionNoticeType } from '#contracts';
import { SystemEventLog } from '#event-log';
import { eventOrigin } from '../platform/event-origin.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/gateway.config.js';
import { LOGGER } from '../platform/tokens.js';

/** Publishes a system event about a session after it was changed. */
@Injectable()
export class SessionEventPublisher {
  constructor(
    private readonly systemEvents: SystemEventLog,
    @Inject(GATEWAY_CONFIG) private readonly config: Pick<GatewayConfig, 'name'>,
    @Inject(LOGGER) private readonly log: Logger,
  ) {}

  /** Resolves once the event is in the log. Never rejects: the session is already changed. */
  async publish<T extends SessionNoticeType>(principal: Principal, sessionId: string, type: T, data: NoticeData<T>): Promise<void> {
    try {
      await this.send(principal, sessionId, type, data);
    } catch (error) {
      this.log.warn({ tenant: principal.tenantId, session: sessionId, type, err: error }, 'could not publish an event of a session');
    }
  }

  /** Resolves once the event is in the log. Rejects if it cannot be written: for facts that are stored nowhere else. */
  async send<T extends SessionNoticeType>(principal: Principal, sessionId: string, type: T, data: NoticeData<T>): Promise<void> {
    const { tenantId } = principal;
    await this.systemEvents.ofSession({ tenantId, sessionId }, type, data, eventOrigin(this.config.name, principal));
  }
}
