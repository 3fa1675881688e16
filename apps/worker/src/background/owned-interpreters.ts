import { randomUUID } from 'node:crypto';
import { keys, type RedisConnection } from '#redis';
import { type EndedSession, Interpreters, LocalInterpreters, type InterpreterAnswer, type InterpreterPlace } from '#tools';

/** Longer than any interpreter is kept. */
const KNOWN_SECONDS = 24 * 3600;
const LOST = 'the worker that has it is gone, or did not get this call';

/**
 * The interpreters of this worker, with a note in Redis which worker ran code of a session last. State that another
 * worker had is reported as lost, and an interpreter whose session went on elsewhere is not used again.
 */
export class OwnedInterpreters extends Interpreters {
  private readonly local = new LocalInterpreters();
  /** Of this process: a worker that is started again may have the same id. */
  private readonly owner: string;

  constructor(
    private readonly redis: RedisConnection,
    workerId: string,
  ) {
    super();
    this.owner = `${workerId} ${randomUUID()}`;
  }

  async run(place: InterpreterPlace, run: Parameters<Interpreters['run']>[1]): Promise<InterpreterAnswer> {
    const { tenantId, sessionId, sessionEpoch, userId, language } = place.key;
    const key = keys.interpreterOwner(tenantId, sessionId, language, sessionEpoch, userId);
    const before = await this.redis.set(key, this.owner, 'EX', KNOWN_SECONDS, 'GET');
    const isElsewhere = before !== null && before !== this.owner;
    if (isElsewhere) await this.local.discard(place.key);
    return this.local.run(place, run, isElsewhere ? LOST : undefined);
  }

  endOf(session: EndedSession): Promise<void> {
    return this.local.endOf(session);
  }

  close(): Promise<void> {
    return this.local.close();
  }
}
