import { Inject, Injectable } from '@nestjs/common';
import { Posture, type Session } from '#contracts';
import { keys, type RedisConnection } from '#redis';
import { GATEWAY_CONFIG, type GatewayConfig } from '../gateway.config.js';
import { PROMPT_REDIS } from '../tokens.js';

/**
 * The posture of sessions. A session that nobody set up has the default posture. It is read for each call of a session
 * and never cached, so that a stricter posture holds from the moment its PUT is answered, on every gateway.
 */
@Injectable()
export class SessionStore {
  constructor(
    @Inject(PROMPT_REDIS) private readonly redis: RedisConnection,
    @Inject(GATEWAY_CONFIG) private readonly config: GatewayConfig,
  ) {}

  /** One GET; none for a call without a session. */
  async posture(tenantId: string, sessionId: string | undefined): Promise<Posture> {
    if (sessionId === undefined) return this.config.defaultPosture;
    const stored = await this.redis.get(keys.session(tenantId, sessionId));
    return stored === null ? this.config.defaultPosture : Posture.parse(JSON.parse(stored));
  }

  async read(tenantId: string, sessionId: string): Promise<Session> {
    return { id: sessionId, tenantId, posture: await this.posture(tenantId, sessionId) };
  }

  /** What is not given stays as it is. Of two writers at once the later one wins. */
  async write(tenantId: string, sessionId: string, change: Partial<Posture>): Promise<Session> {
    const posture = { ...(await this.posture(tenantId, sessionId)), ...change };
    await this.redis.set(keys.session(tenantId, sessionId), JSON.stringify(posture));
    return { id: sessionId, tenantId, posture };
  }
}
