import { randomUUID } from 'node:crypto';
import type { HookRunData } from '#contracts';
import { isApplied, type EventLog, type EventOrigin } from '#event-log';
import { changedConcurrently } from './changed-concurrently.js';

/** Call that waits for approval, in the version that was read. */
interface WaitingCall {
  readonly callId: string;
  readonly version: number;
  readonly author: EventOrigin;
}

/** Writes the steps of hook runs of a call that waits for approval, in order, while the hooks run. */
export class HookRunLog {
  private writing: Promise<number>;

  /**
   * Numbers runs after `lastRun`. `failed` is called if a step cannot be written: the call has ended or was decided, or Redis
   * is unreachable.
   */
  constructor(
    private readonly log: Pick<EventLog, 'holdApproval'>,
    private readonly call: WaitingCall,
    private readonly lastRun: number,
    private readonly failed: (why: unknown) => void,
  ) {
    this.writing = Promise.resolve(call.version);
  }

  /** Never throws. After a failed write no further step is written. */
  add(step: HookRunData): void {
    this.writing = this.writing.then((version) => this.write(version, step));
    this.writing.catch(this.failed);
  }

  /** Version of the call after all steps. Rejects if one was not written. */
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
