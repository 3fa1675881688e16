import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { keys, type RedisConnection } from '#redis';
import {
  type EndedSession,
  Interpreters,
  LocalInterpreters,
  type InterpreterAnswer,
  type InterpreterKey,
  type InterpreterPlace,
} from '#tools';
import { everyMs, type Ticker } from '#timing';

/** Lifetime of the owner record, longer than that of any interpreter. */
const KNOWN_SECONDS = 24 * 3600;
const LOOK_MS = 30_000;
/** Session in the form of the gateways; the epoch counts its deletions. */
const Session = z.object({ epoch: z.number().int().default(0) });
const LOST = 'the worker that has it is gone, or did not get this call';

/**
 * Interpreters of this worker, with a record in Redis of the last worker of each session. The state of another worker is
 * reported as lost, and an interpreter whose session continued elsewhere is not used again.
 */
export class OwnedInterpreters extends Interpreters {
  private readonly local = new LocalInterpreters();
  /** Name of this process: a restarted worker may have the same id. */
  private readonly owner: string;
  private readonly ticker: Ticker;

  constructor(
    private readonly redis: RedisConnection,
    workerId: string,
  ) {
    super();
    this.owner = `${workerId} ${randomUUID()}`;
    this.ticker = everyMs(LOOK_MS, () => Promise.all(this.local.keys().map((key) => this.discardOutdated(key))));
  }

  async run(place: InterpreterPlace, run: Parameters<Interpreters['run']>[1]): Promise<InterpreterAnswer> {
    const { tenantId, sessionId, sessionEpoch, userId, language } = place.key;
    const key = keys.interpreterOwner(tenantId, sessionId, language, sessionEpoch, userId);
    const before = await this.redis.set(key, this.owner, 'EX', KNOWN_SECONDS, 'GET');
    const isElsewhere = before !== null && before !== this.owner;
    if (isElsewhere) await this.local.discard(place.key);
    const answer = await this.local.run(place, run, isElsewhere ? LOST : undefined);
    void this.discardOutdated(place.key);
    return answer;
  }

  endOf(session: EndedSession): Promise<void> {
    return this.local.endOf(session);
  }

  close(): Promise<void> {
    this.ticker.unsubscribe();
    return this.local.close();
  }

  /** Ends the interpreter of a deleted session. No effect while Redis is unreachable. Never rejects. */
  private async discardOutdated(key: InterpreterKey): Promise<void> {
    const stored = await this.redis.get(keys.session(key.tenantId, key.sessionId)).catch(() => null);
    if (stored !== null && epochOf(stored) > key.sessionEpoch) await this.local.discard(key);
  }
}

/** Epoch of a stored session; 0 for the form of a newer release. */
function epochOf(stored: string): number {
  try {
    return Session.parse(JSON.parse(stored)).epoch;
  } catch {
    return 0;
  }
}
