import { TURN_LIMITS, type TurnData } from '#contracts';
import { upcastEvent, type CallStore } from '#event-log';
import type { AgentRun, ToolContext } from '#tool-sdk';
import type { RecordedTurn } from './recorded-turn.js';
import type { AgentHistory, AgentJournal } from './agent-journal.js';

/** Writes each turn to the event log once, without secrets, before anything depends on it. */
export class TurnLog {
  constructor(
    private readonly ctx: Pick<ToolContext, 'attempt' | 'callId' | 'redact'>,
    private readonly run: Pick<AgentRun, 'recordTurn'>,
    private readonly journal: Pick<AgentJournal, 'noteLogged'>,
    private readonly calls: Pick<CallStore, 'events'>,
  ) {}

  /** `steering`: messages of people in the request of the turn, which the journal keeps, too. */
  async write(turn: RecordedTurn, steering: readonly string[] = []): Promise<void> {
    await this.run.recordTurn(this.dataOf(turn), Buffer.byteLength(JSON.stringify([turn, steering])));
    await this.journal.noteLogged(this.ctx.callId, turn.turn);
  }

  /**
   * Writes the last turn if an earlier attempt died between journal and log. Only the log shows it: no other worker can write
   * there any more.
   */
  async ensure({ turns, logged, steering }: Pick<AgentHistory, 'turns' | 'logged' | 'steering'>): Promise<void> {
    const last = turns.at(-1);
    if (last === undefined || logged.has(last.turn)) return;
    const events = await this.calls.events(this.ctx.callId);
    const isThere = events.some(({ type, json }) => type === 'call.turn' && numberOf(json) === last.turn);
    if (isThere) await this.journal.noteLogged(this.ctx.callId, last.turn);
    else await this.write(last, steering.get(last.turn));
  }

  private dataOf({ turn, model, requestSha256, text, toolCalls, usage, tookMs, steering }: RecordedTurn): TurnData {
    const shown = cutBytes(this.ctx.redact(text), TURN_LIMITS.textBytes);
    return {
      turn,
      model,
      requestSha256,
      ...(shown === '' ? {} : { text: shown }),
      toolCalls: toolCalls.map(({ toolCallId, tool }) => ({ toolCallId: this.ctx.redact(toolCallId), tool: this.ctx.redact(tool) })),
      usage,
      tookMs,
      ...(steering === 0 ? {} : { steering }),
    };
  }
}

function numberOf(json: string): number | undefined {
  const event = upcastEvent(json);
  return event.type === 'call.turn' ? event.data.turn : undefined;
}

/** Beginning of a text, never ending within a character. */
function cutBytes(text: string, bytes: number): string {
  return new TextDecoder().decode(Buffer.from(text.slice(0, bytes)).subarray(0, bytes), { stream: true });
}
