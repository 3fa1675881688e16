import { type Call, CallId, type Content, Json } from '#contracts';
import { type CallStore, upcastEvent } from '#event-log';
import { keys, partitionOf, type RedisConnection } from '#redis';
import { type BackgroundOutput, type BackgroundRun, BackgroundRuns, type OutputPart } from '#tools';
import { z } from 'zod';

type Asking = Parameters<BackgroundRuns['list']>[0];

/** Updates in one read, each of at most 8 KiB. */
const EVENTS = 16;
const ExitDetails = z.object({ exitCode: z.number().int() });
const Command = z.object({ command: z.string() });

/** Background runs as calls, with output and state in the log. */
export class CallBackgroundRuns extends BackgroundRuns {
  constructor(
    private readonly redis: RedisConnection,
    private readonly calls: Pick<CallStore, 'read' | 'readSummaries' | 'events' | 'blob'>,
  ) {
    super();
  }

  async list(ctx: Asking): Promise<readonly BackgroundRun[]> {
    const key = keyOf(ctx);
    if (key === undefined) return [];
    const ids = await this.redis.zrevrangebyscore(key, '+inf', '-inf');
    const found = await this.calls.readSummaries(ids.filter((id) => id !== ctx.callId));
    return found.flatMap((call) => (call === undefined ? [] : [runOf(call)]));
  }

  async output(ctx: Asking, taskId: string, position: number, maxBytes: number): Promise<BackgroundOutput | undefined> {
    if (!(await this.isOfSession(ctx, taskId))) return undefined;
    // Reads the state first: a call that has ended then has all of its output in the log.
    const call = await this.calls.read(taskId);
    if (call === undefined) return undefined;
    const read = await this.textAfter(taskId, position, maxBytes);
    return { run: runOf(call), ...read };
  }

  async wholeOutput(ctx: Asking, callId: string, fromByte: number, maxBytes: number): Promise<OutputPart | undefined> {
    const call = CallId.safeParse(callId).success ? await this.calls.read(callId) : undefined;
    const isOurs = call?.tenantId === ctx.tenantId && call.sessionId === ctx.sessionId && ctx.sessionId !== undefined;
    if (!isOurs || call.status !== 'ended' || !ExitDetails.safeParse(call.result?.details).success) return undefined;
    if ((await this.epochOf(callId)) !== (ctx.sessionEpoch ?? 0)) return undefined;
    const whole = (await this.calls.blob(callId, 'output')) ?? Buffer.from(textOf(call.result?.content ?? []));
    const from = borderAt(whole, fromByte);
    const to = borderAt(whole, from + maxBytes);
    return { text: whole.toString('utf8', from, to), from, to, totalBytes: whole.byteLength };
  }

  /** Epoch of the session at the submission: the number of its deletions. A new session of the same name has another one. */
  private async epochOf(callId: string): Promise<number> {
    const [first] = await this.calls.events(callId, { limit: 1 });
    const event = first && upcastEvent(first.json);
    return event?.type === 'call.submitted' ? (event.data.sessionEpoch ?? 0) : 0;
  }

  private async textAfter(callId: string, position: number, maxBytes: number): Promise<Omit<BackgroundOutput, 'run'>> {
    let [text, seq, truncated] = ['', position, false];
    for (;;) {
      const events = maxBytes === 0 ? [] : await this.calls.events(callId, { afterSeq: seq, limit: EVENTS });
      if (events.length === 0) return { text, position: seq, hasMore: false, truncated };
      for (const stored of events) {
        const event = upcastEvent(stored.json);
        const more = event.type === 'call.update' ? textOf(event.data.content) : '';
        if (text !== '' && Buffer.byteLength(text) + Buffer.byteLength(more) > maxBytes)
          return { text, position: seq, hasMore: true, truncated };
        text += more;
        truncated ||= event.type === 'call.update' && event.data.truncated === true;
        seq = stored.seq;
      }
    }
  }

  private async isOfSession(ctx: Asking, taskId: string): Promise<boolean> {
    const key = keyOf(ctx);
    return key !== undefined && (await this.redis.zscore(key, taskId)) !== null;
  }
}

/** Key of the session's background runs, in the partition of its calls. Undefined without a session. */
function keyOf({ callId, tenantId, sessionId }: Asking): string | undefined {
  return sessionId === undefined ? undefined : keys.backgroundRuns(partitionOf(callId), tenantId, sessionId);
}

function textOf(content: readonly Content[]): string {
  return content.map((item) => (item.type === 'text' ? item.text : '')).join('');
}

/** Start of the character that contains the byte. */
function borderAt(text: Buffer, byte: number): number {
  let at = Math.min(byte, text.byteLength);
  while (at > 0 && ((text[at] ?? 0) & 0xc0) === 0x80) at -= 1;
  return at;
}

function runOf({ id, tool, status, outcome, error, result, arguments: args, submittedAt, endedAt }: Call): BackgroundRun {
  const exit = ExitDetails.safeParse(result?.details).data;
  const command = Command.safeParse(Json.safeParse(args).data).data?.command ?? '';
  return {
    taskId: id,
    tool,
    status,
    command,
    startedAt: submittedAt,
    endedAt,
    outcome,
    ...(exit === undefined ? {} : { exitCode: exit.exitCode }),
    ...(error === undefined ? {} : { error: error.message }),
  };
}
