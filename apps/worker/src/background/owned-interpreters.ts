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

/** Longer than any interpreter is kept. */
const KNOWN_SECONDS = 24 * 3600;
const LOOK_MS = 30_000;
/** A session as gateways store it: how often it was deleted. */
const Session = z.object({ epoch: z.number().int().default(0) });
const LOST = 'the worker that has it is gone, or did not get this call';

/**
 * The interpreters of this worker, with a note in Redis which worker ran code of a session last. State that another
 * worker had is reported as lost, and an interpreter whose session went on elsewhere is not used again.
 */
export class OwnedInterpreters extends Interpreters {
  private readonly local = new LocalInterpreters();
  /** Of this process: a worker that is started again may have the same id. */
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

  /** Ends the interpreter when its session was deleted since. Does nothing while Redis is away. Never rejects. */
  private async discardOutdated(key: InterpreterKey): Promise<void> {
    const stored = await this.redis.get(keys.session(key.tenantId, key.sessionId)).catch(() => null);
    if (stored !== null && epochOf(stored) > key.sessionEpoch) await this.local.discard(key);
  }
}

/** 0 for what a newer release has stored in another form. */
function epochOf(stored: string): number {
  try {
    return Session.parse(JSON.parse(stored)).epoch;
  } catch {
    return 0;
  }
}
