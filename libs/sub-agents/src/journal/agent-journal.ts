import { z } from 'zod';
import { KEPT_WITH_CALL_SECONDS } from '#contracts';
import { keys, type RedisConnection } from '#redis';
import { RecalledMemory } from './recalled-memory.js';
import { RecordedTurn, SubmittedToolCall } from './recorded-turn.js';

/** Lifetime of the journal after the run, whose End may not be in the log yet. */
const KEPT_AFTER_SECONDS = 3_600;

const SteeringMessages = z.array(z.object({ message: z.string() }));

/** Completed work of a run. */
export interface AgentHistory {
  readonly turns: readonly RecordedTurn[];
  /** Submitted calls by turn. */
  readonly submitted: ReadonlyMap<number, readonly SubmittedToolCall[]>;
  /** Messages of people in the request of each turn. */
  readonly steering: ReadonlyMap<number, readonly string[]>;
  /** Set before the first turn of a run with memory. */
  readonly recalled: RecalledMemory | undefined;
  /** Turns known to be in the log. */
  readonly logged: ReadonlySet<number>;
  /** Number of failed requests for the next turn. */
  readonly failures: number;
  /** Total time of all failed requests. */
  readonly failedMs: number;
}

/**
 * Journal of a sub-agent by turn, in the partition of its call. Stores the unchanged answers of its model, since the next
 * request repeats them. The event log has them without secrets. Of two answers to one turn the first counts.
 */
export class AgentJournal {
  constructor(private readonly redis: RedisConnection) {}

  async load(callId: string): Promise<AgentHistory> {
    const fields = await this.redis.hgetall(keys.agentJournal(callId));
    const turns: RecordedTurn[] = [];
    for (let turn = 1; fields[`turn.${turn}`] !== undefined; turn += 1) turns.push(parsed(RecordedTurn, fields[`turn.${turn}`]));
    const numbers = Array.from({ length: turns.length + 1 }, (_unused, index) => index + 1);
    return {
      turns,
      submitted: new Map(numbers.flatMap((turn) => submittedOf(turn, fields))),
      steering: byTurn(numbers, fields, 'steering', (text) => parsed(SteeringMessages, text).map(({ message }) => message)),
      recalled: fields['recalled'] === undefined ? undefined : parsed(RecalledMemory, fields['recalled']),
      logged: new Set(numbers.filter((turn) => fields[`logged.${turn}`] !== undefined)),
      failures: Number(fields[`failures.${turns.length + 1}`] ?? 0),
      failedMs: Number(fields['failedMs'] ?? 0),
    };
  }

  /** Returns the turn that counts: this one, or an earlier stored one. */
  async keepTurn(callId: string, turn: RecordedTurn): Promise<RecordedTurn> {
    return parsed(RecordedTurn, await this.keepFirst(callId, `turn.${turn.turn}`, JSON.stringify(turn)));
  }

  /** Stores the calls submitted after the first `after` of the turn. The first write counts, as for turns. */
  async keepSubmitted(callId: string, turn: number, after: number, calls: readonly SubmittedToolCall[]): Promise<SubmittedToolCall[]> {
    return parsed(SubmittedToolCalls, await this.keepFirst(callId, callsField(turn, after), JSON.stringify(calls)));
  }

  /** Stores the recalled texts. The first write counts, so that all requests of the run begin alike. */
  async keepRecalled(callId: string, recalled: RecalledMemory): Promise<RecalledMemory> {
    return parsed(RecalledMemory, await this.keepFirst(callId, 'recalled', JSON.stringify(recalled)));
  }

  async noteLogged(callId: string, turn: number): Promise<void> {
    await this.redis.hset(keys.agentJournal(callId), `logged.${turn}`, '1');
  }

  /** Number of failed requests for the turn, including this one. */
  async countFailure(callId: string, turn: number, tookMs: number): Promise<number> {
    const key = keys.agentJournal(callId);
    const [failures] = await Promise.all([
      this.redis.hincrby(key, `failures.${turn}`, 1),
      this.redis.hincrby(key, 'failedMs', tookMs),
      this.redis.expire(key, KEPT_WITH_CALL_SECONDS),
    ]);
    return failures;
  }

  /** Called when the run is over; a repetition within the hour finds the journal unchanged. */
  async expire(callId: string): Promise<void> {
    await this.redis.expire(keys.agentJournal(callId), KEPT_AFTER_SECONDS);
  }

  private async keepFirst(callId: string, field: string, text: string): Promise<string> {
    const key = keys.agentJournal(callId);
    const [, stored] = await Promise.all([
      this.redis.hsetnx(key, field, text),
      this.redis.hget(key, field),
      this.redis.expire(key, KEPT_WITH_CALL_SECONDS),
    ]);
    return stored ?? text;
  }
}

function parsed<T extends z.ZodType>(schema: T, text: string | undefined): z.output<T> {
  return schema.parse(JSON.parse(text ?? 'null'));
}

const SubmittedToolCalls = z.array(SubmittedToolCall);

function callsField(turn: number, after: number): string {
  return after === 0 ? `calls.${turn}` : `calls.${turn}.${after}`;
}

function submittedOf(turn: number, fields: Readonly<Record<string, string>>): [number, SubmittedToolCall[]][] {
  const submitted: SubmittedToolCall[] = [];
  for (let text = fields[callsField(turn, 0)]; text !== undefined; text = fields[callsField(turn, submitted.length)]) {
    const calls = parsed(SubmittedToolCalls, text);
    if (calls.length === 0) break;
    submitted.push(...calls);
  }
  return submitted.length === 0 ? [] : [[turn, submitted]];
}

function byTurn<T>(
  turns: readonly number[],
  fields: Readonly<Record<string, string>>,
  name: string,
  read: (text: string) => T,
): ReadonlyMap<number, T> {
  return new Map(
    turns.flatMap((turn): [number, T][] => {
      const text = fields[`${name}.${turn}`];
      return text === undefined ? [] : [[turn, read(text)]];
    }),
  );
}
