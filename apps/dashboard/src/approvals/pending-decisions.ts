import type { ApprovalOption, Call, TrustOption } from '#contracts';
import { FrameStore } from '../stream/frame-store.js';

/** How long an answer can be taken back before it is sent. */
export const HOLD_MS = 5000;
/** A timer that is later than this, as after the computer slept, sends nothing. */
const LATE_MS = 60_000;
const KEPT_OUTCOMES = 200;

export interface Answer {
  /** The call as the person saw it; the gateway refuses the answer if the call asks something else by then. */
  readonly call: Call;
  readonly option: Pick<ApprovalOption, 'decision' | 'scope'>;
  readonly trust?: TrustOption | undefined;
  /** Reason written by the person; empty for none. */
  readonly reason: string;
}

/** Answers that were given together and are sent, or taken back, together. */
export interface PendingGroup {
  readonly id: number;
  readonly answers: readonly Answer[];
  /** Time of sending, in milliseconds since 1970. */
  readonly dueAt: number;
}

/** Result of an answer. */
export interface Outcome {
  readonly answer: Answer;
  readonly state: 'sending' | 'taken' | 'refused';
  readonly error?: unknown;
}

/**
 * Answers between the press and the request. Each group waits `HOLD_MS`, during which it can be taken back or sent at once. Its
 * answers are sent one after another, each evaluated by the gateway on its own. `drop` sends nothing: the calls go on waiting.
 */
export class PendingDecisions extends FrameStore {
  private readonly held = new Map<number, PendingGroup & { readonly timer: ReturnType<typeof setTimeout> }>();
  private readonly sent = new Map<string, Outcome>();
  private ids = 0;

  constructor(
    private readonly send: (answer: Answer) => Promise<unknown>,
    private readonly onOutcome: (outcome: Outcome) => void = () => {},
  ) {
    super();
  }

  /** Groups that can still be taken back, oldest first. */
  get groups(): readonly PendingGroup[] {
    return [...this.held.values()];
  }

  /** Results of the answers that were sent, oldest first. */
  get outcomes(): readonly Outcome[] {
    return [...this.sent.values()];
  }

  groupOf(callId: string): PendingGroup | undefined {
    return this.groups.find(({ answers }) => answers.some(({ call }) => call.id === callId));
  }

  isSending(callId: string): boolean {
    return this.sent.get(callId)?.state === 'sending';
  }

  /** Calls that have an answer already keep it; nothing is held where none is left. */
  hold(answers: readonly Answer[]): void {
    const fresh = answers.filter(({ call: { id } }) => this.groupOf(id) === undefined && !this.isSending(id));
    if (fresh.length === 0) return;
    const id = ++this.ids;
    const dueAt = Date.now() + HOLD_MS;
    const timer = setTimeout(() => (Date.now() - dueAt > LATE_MS ? this.undo(id) : void this.sendNow(id)), HOLD_MS);
    for (const { call } of fresh) this.sent.delete(call.id);
    this.held.set(id, { id, answers: fresh, dueAt, timer });
    this.changed();
  }

  /** Drops the group without sending it. */
  undo(id: number): void {
    clearTimeout(this.held.get(id)?.timer);
    this.held.delete(id);
    this.changed();
  }

  async sendNow(id: number): Promise<void> {
    const group = this.held.get(id);
    this.undo(id);
    await this.sendAll(group?.answers ?? []);
  }

  /** Sends the answer to one call at once. Answers given together with it stay delayed. */
  async sendOne(callId: string): Promise<void> {
    const answer = this.take(callId);
    if (answer !== undefined) await this.sendAll([answer]);
  }

  /** Takes back the answer to one call. Answers given together with it stay delayed. */
  undoOne(callId: string): void {
    this.take(callId);
    this.changed();
  }

  /** Drops the delayed answer to a call that no longer waits, and notes that nothing was sent. */
  withdraw(callId: string, reason: string): void {
    const answer = this.take(callId);
    if (answer !== undefined) this.note({ answer, state: 'refused', error: new Error(reason) });
  }

  /** Drops all unsent answers, such as when the page is left. */
  drop(): void {
    for (const { id } of this.groups) this.undo(id);
  }

  forgetOutcomes(): void {
    for (const [id, { state }] of this.sent) if (state !== 'sending') this.sent.delete(id);
    this.changed();
  }

  private async sendAll(answers: readonly Answer[]): Promise<void> {
    for (const answer of answers) this.note({ answer, state: 'sending' });
    for (const answer of answers) {
      try {
        await this.send(answer);
        this.note({ answer, state: 'taken' });
      } catch (error) {
        this.note({ answer, state: 'refused', error });
      }
    }
  }

  /** Removes the answer to one call from its group. */
  private take(callId: string): Answer | undefined {
    const entry = [...this.held.values()].find(({ answers }) => answers.some(({ call }) => call.id === callId));
    if (entry === undefined) return undefined;
    const others = entry.answers.filter(({ call }) => call.id !== callId);
    if (others.length === 0) this.undo(entry.id);
    else this.held.set(entry.id, { ...entry, answers: others });
    return entry.answers.find(({ call }) => call.id === callId);
  }

  private note(outcome: Outcome): void {
    this.sent.set(outcome.answer.call.id, outcome);
    const [oldest] = this.sent.keys();
    if (this.sent.size > KEPT_OUTCOMES && oldest !== undefined) this.sent.delete(oldest);
    this.changed();
    this.onOutcome(outcome);
  }
}
