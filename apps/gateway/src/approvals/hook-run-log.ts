import { randomUUID } from 'node:crypto';
import type { HookRunData } from '#contracts';
import { isApplied, type EventLog, type EventOrigin } from '#event-log';
import { changedConcurrently } from './changed-concurrently.js';

/** The call that waits for approval, as it was read. */
interface WaitingCall {
  readonly callId: string;
  readonly version: number;
  readonly author: EventOrigin;
}

/** Writes the steps of hook runs of a call that waits for approval, one after another, while the hooks run. */
export class HookRunLog {
  private writing: Promise<number>;

  /** Runs are numbered after `lastRun`. `failed` is called when a step is not written: the call has ended or was decided, or Redis is away. */
  constructor(
    private readonly log: Pick<EventLog, 'holdApproval'>,
    private readonly call: WaitingCall,
    private readonly lastRun: number,
    private readonly failed: (why: unknown) => void,
  ) {
    this.writing = Promise.resolve(call.version);
  }

  /** Never throws. After a step that was not written no other one is. */
  add(step: HookRunData): void {
    this.writing = this.writing.then((version) => this.write(version, step));
    this.writing.catch(this.failed);
  }

  /** The version of the call after all steps. Rejects when one was not written. */
  version(): Promise<number> {
    return this.writing;
  }

  private async write(version: number, step: HookRunData): Promise<number> {
    const { callId, author } = this.call;
    const guard = { by: 'command', version, commandId: randomUUID() } as const;
    const hookRuns = [{ ...step, run: step.run + this.lastRun }];
    const answer = await this.log.holdApproval({ callId, guard, hookRuns, author });
    if (!isApplied(answer)) throw changedConcurrently(callId);
    return answer.version;
  }
}
