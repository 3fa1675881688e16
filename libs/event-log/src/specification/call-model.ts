// Part of the executable specification of stream/apply-transitions.lua: tests run it, the product does not.
import type { CallState } from '../call/call-snapshot.js';
import type { CallCommand, DecisionContext } from './call-commands.js';
import { decide } from './decide.js';
import { wake } from './evolve.js';

interface LoggedEvent {
  readonly callId: string;
  readonly type: string;
  readonly seq: number;
  readonly version: number;
  readonly attempt: number;
  readonly fence: number;
}

/** Content of Redis according to the pure decider. */
export class Model {
  readonly states = new Map<string, CallState>();
  readonly seqs = new Map<string, number>();
  readonly commands = new Map<string, Omit<NonNullable<DecisionContext['applied']>, never>>();
  readonly holders = new Map<string, NonNullable<DecisionContext['keyHolder']>>();
  readonly events: LoggedEvent[] = [];
  readonly seen = new Map<string, number>();

  /** Decides as the script does, with the script's clock, and records the state that the script would store. */
  apply(callId: string, command: CallCommand, now: number, key?: string): object {
    const partition = callId.slice(0, 2);
    const commandId = 'guard' in command && command.guard.by === 'command' ? `${callId}/${command.guard.commandId}` : undefined;
    const seq = this.seqs.get(partition) ?? 0;
    const applied = commandId === undefined ? undefined : this.commands.get(commandId);
    const keyHolder = key === undefined ? undefined : this.holders.get(`${partition}/${key}`);
    const decision = decide(this.states.get(callId), command, {
      now,
      seq,
      ...(applied ? { applied } : {}),
      ...(keyHolder ? { keyHolder } : {}),
    });
    if (decision.code !== 'OK') return decision;
    this.states.set(callId, decision.state);
    if (decision.state.status === 'ended') this.wakeParent(decision.state, now);
    this.seqs.set(partition, seq + decision.events.length);
    this.events.push(...decision.events.map((event) => ({ callId, ...event })));
    const answer = { version: decision.state.version, seq: decision.state.lastSeq, time: now };
    if (commandId !== undefined) this.commands.set(commandId, answer);
    if (key !== undefined && command.kind === 'accept')
      this.holders.set(`${partition}/${key}`, { callId, requestSha256: command.requestSha256 ?? '' });
    return { code: 'OK', ...answer };
  }

  private wakeParent({ meta: { parentCallId } }: CallState, now: number): void {
    const parent = parentCallId === undefined ? undefined : this.states.get(parentCallId);
    if (parent !== undefined) this.states.set(parent.callId, wake(parent, now));
  }
}
