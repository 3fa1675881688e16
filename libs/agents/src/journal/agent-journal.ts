import { z } from 'zod';
import { KEPT_WITH_CALL_SECONDS } from '#contracts';
import { keys, type RedisConnection } from '#redis';
import { Recalled } from './recalled.js';
import { RecordedTurn, SubmittedToolCall } from './recorded-turn.js';

/** After the run: its End may not be in the log yet. */
const KEPT_AFTER_SECONDS = 3_600;

const SteeringMessages = z.array(z.object({ message: z.string() }));

/** What a run has done so far. */
export interface AgentHistory {
  readonly turns: readonly RecordedTurn[];
  /** By turn: what became of its calls, as far as they are submitted. */
  readonly submitted: ReadonlyMap<number, readonly SubmittedToolCall[]>;
  /** By turn: messages of people that its request brought. */
  readonly steering: ReadonlyMap<number, readonly string[]>;
  /** Set before the first turn of a run with memory. */
  readonly recalled: Recalled | undefined;
  /** Turns that are known to be in the log. */
  readonly logged: ReadonlySet<number>;
  /** Requests for the next turn that failed. */
  readonly failures: number;
  /** How long all requests took that failed. */
  readonly failedMs: number;
}

/**
 * What a sub-agent has done, by turn, in the partition of its call: answers of its model as they came, since the next
 * request repeats them. The event log shows the same without secrets. Of two answers to one turn the first stays.
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
      recalled: fields['recalled'] === undefined ? undefined : parsed(Recalled, fields['recalled']),
      logged: new Set(numbers.filter((turn) => fields[`logged.${turn}`] !== undefined)),
      failures: Number(fields[`failures.${turns.length + 1}`] ?? 0),
      failedMs: Number(fields['failedMs'] ?? 0),
    };
  }

  /** Answers the turn that counts: this one, or the one that was kept before. */
  async keepTurn(callId: string, turn: RecordedTurn): Promise<RecordedTurn> {
    return parsed(RecordedTurn, await this.keepFirst(callId, `turn.${turn.turn}`, JSON.stringify(turn)));
  }

  /** The calls that were submitted after the first `after` of the turn. The first to say stays, as with turns. */
  async keepSubmitted(callId: string, turn: number, after: number, calls: readonly SubmittedToolCall[]): Promise<SubmittedToolCall[]> {
    return parsed(SubmittedToolCalls, await this.keepFirst(callId, callsField(turn, after), JSON.stringify(calls)));
  }

  /** The first stays, so that all requests of the run begin alike. */
  async keepRecalled(callId: string, recalled: Recalled): Promise<Recalled> {
    return parsed(Recalled, await this.keepFirst(callId, 'recalled', JSON.stringify(recalled)));
  }

  async noteLogged(callId: string, turn: number): Promise<void> {
    await this.redis.hset(keys.agentJournal(callId), `logged.${turn}`, '1');
  }

  /** How often the request for the turn has failed by now. */
  async countFailure(callId: string, turn: number, tookMs: number): Promise<number> {
    const key = keys.agentJournal(callId);
    const [failures] = await Promise.all([
      this.redis.hincrby(key, `failures.${turn}`, 1),
      this.redis.hincrby(key, 'failedMs', tookMs),
      this.redis.expire(key, KEPT_WITH_CALL_SECONDS),
    ]);
    return failures;
  }

  /** Called when the run is over; a repetition within the hour finds it as it is. */
  async expire(callId: string): Promise<void> {
    await this.redis.expire(keys.agentJournal(callId), KEPT_AFTER_SECONDS);
  }

  private async keepFirst(callId: string, field: string, text: string): Promise<string> {
    const key = keys.agentJournal(callId);
    const [, kept] = await Promise.all([
      this.redis.hsetnx(key, field, text),
      this.redis.hget(key, field),
      this.redis.expire(key, KEPT_WITH_CALL_SECONDS),
    ]);
    return kept ?? text;
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
