import { z } from 'zod';
import { keys, listenToChannels, type RedisConnection } from '#redis';
import type { EndedSession, SessionEnds } from '#tools';
import type { WorkerLog } from '../platform/worker.logger.js';

const Ended = z.object({ tenantId: z.string(), sessionId: z.string() });

/** Announces deleted sessions to the tools of this worker. Messages are lost while Redis is unreachable. */
export class SessionEndListener {
  /** `subscriber`: closed by its owner. */
  constructor(
    private readonly subscriber: RedisConnection,
    private readonly ends: Pick<SessionEnds, 'announce'>,
    private readonly logger: WorkerLog,
  ) {}

  /** Resolves when the subscription is active. */
  async start(): Promise<void> {
    await listenToChannels(this.subscriber, new Set([keys.sessionEndChannel()]), { onMessage: (text) => this.receive(text) });
  }

  private receive(text: string): void {
    const session = parseEnded(text);
    if (session !== undefined) return this.ends.announce(session);
    this.logger.error(
      { text: text.slice(0, 200) },
      'a message about a deleted session is malformed and is ignored: expected JSON with tenantId and sessionId',
    );
  }
}

/** Undefined for a malformed text or a newer format. */
function parseEnded(text: string): EndedSession | undefined {
  try {
    return Ended.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
