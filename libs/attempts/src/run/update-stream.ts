import { cutUtf8 } from '../commit/cut-text.js';
import type { Content, ProgressData, UpdateData } from '#contracts';
import { UpdatesDigest } from '#event-log';
import type { MemoryLevel, RedisMemory } from '#redis';
import type { Clock } from '../clock.js';
import { ContentBuffer } from './content-buffer.js';
import { Throttle } from './throttle.js';

export const UPDATE_LIMITS = {
  contentBytes: 8_192 - 64,
  updates: 1_000,
  totalBytes: 1_048_576,
  messageBytes: 1_024,
  progressBurst: 8,
} as const;

/** Interval between two updates; longer while Redis is short of memory, since updates are dispensable. */
const INTERVAL_MS: Readonly<Record<MemoryLevel, number>> = { normal: 250, elevated: 1_000, high: 1_000, critical: 5_000 };

export interface UpdateSink {
  /** `updates`: present digest of the call's updates, for the log; `bytes`: of the content. */
  update(data: UpdateData, updates: string, bytes: number): void;
  progress(data: ProgressData): void;
  /** Called when a tool update shares an event with another. */
  coalesced(): void;
}

/** Filters updates before they are written. Neither method may reject. */
export interface UpdateFilter {
  /** Resolves with false to withhold the update from watchers. */
  allows(content: readonly Content[]): Promise<boolean>;
  /** Called after the update was written. */
  sent(content: readonly Content[]): Promise<void>;
}

/**
 * Updates and progress of a running tool, throttled for the log. The first update is sent at once, then at most four a second
 * of 8 KiB each, merged in between, fewer while Redis is nearly full; an incomplete update is marked `truncated`. After 1,000
 * updates or 1 MiB in one attempt the last one is marked `truncated` and the rest is dropped. Progress is sent in short bursts
 * at once; above four a second only the newest. While a filter checks an update, new content is gathered for the next one.
 */
export class UpdateStream {
  private readonly content = new ContentBuffer(UPDATE_LIMITS.contentBytes);
  private readonly updates: Throttle;
  private readonly progresses: Throttle;
  private readonly digest: UpdatesDigest;
  private progressPending: ProgressData = {};
  private sentBytes = 0;
  private progressSent = 0;
  private pendingFilter: Promise<void> | undefined;
  private updateWaiting = false;
  private cancelled = false;

  constructor(
    private readonly sink: UpdateSink,
    clock: Clock,
    /** Digest of the updates of previous attempts, from the claim. */
    updatesBefore: string,
    private readonly filter?: UpdateFilter,
    /** Updates of this attempt that were sent before. */
    private sent = 0,
    memory: Pick<RedisMemory, 'level'> = { level: 'normal' },
  ) {
    const intervalMs = () => INTERVAL_MS[memory.level];
    this.digest = new UpdatesDigest(updatesBefore);
    this.updates = new Throttle(clock, intervalMs, () => this.sendUpdate());
    this.progresses = new Throttle(clock, intervalMs, () => this.sendProgress(), UPDATE_LIMITS.progressBurst);
  }

  onUpdate(content: readonly Content[], isStderr = false): void {
    if (this.exhausted) return;
    this.content.append(content, isStderr);
    if (!this.content.empty && this.updates.request()) this.sink.coalesced();
  }

  onProgress(progress: ProgressData): void {
    if (this.progressSent >= UPDATE_LIMITS.updates) return;
    this.progressPending = progress;
    if (this.progresses.request()) this.sink.coalesced();
  }

  /**
   * Sends the pending content and resolves after the filter has checked it. Drops later updates. Needed before `close` if there
   * is a filter.
   */
  async drain(): Promise<void> {
    this.progresses.close();
    this.updates.close();
    await this.pendingFilter;
  }

  /** Sends the pending content. Drops later updates. */
  close(): void {
    this.progresses.close();
    this.updates.close();
  }

  /** Drops the pending content and all later updates. */
  cancel(): void {
    this.cancelled = true;
    this.progresses.cancel();
    this.updates.cancel();
  }

  private get exhausted(): boolean {
    return this.sent >= UPDATE_LIMITS.updates || this.sentBytes + UPDATE_LIMITS.contentBytes > UPDATE_LIMITS.totalBytes;
  }

  private sendUpdate(): void {
    if (this.exhausted) return;
    if (this.filter === undefined) return this.write(this.content.flush());
    if (this.pendingFilter === undefined) this.pendingFilter = this.filterAndSend(this.filter);
    else this.updateWaiting = true;
  }

  private async filterAndSend(gate: UpdateFilter): Promise<void> {
    do {
      this.updateWaiting = false;
      const contents = this.content.flush();
      if (!(await gate.allows(contents.content)) || this.cancelled) continue;
      this.write(contents);
      await gate.sent(contents.content);
    } while (this.updateWaiting && !this.exhausted);
    this.pendingFilter = undefined;
  }

  private write({ content, stderr, truncated: cut }: ReturnType<ContentBuffer['flush']>): void {
    const text = JSON.stringify(content);
    this.sent += 1;
    const bytes = Buffer.byteLength(text);
    this.sentBytes += bytes;
    const truncated = cut || this.exhausted;
    const marks = stderr.length === 0 ? {} : { stderr: [...stderr] };
    this.sink.update(
      { update: this.sent, content: [...content], ...marks, ...(truncated ? { truncated } : {}) },
      this.digest.add(text),
      bytes,
    );
  }

  private sendProgress(): void {
    if (this.progressSent >= UPDATE_LIMITS.updates) return;
    this.progressSent += 1;
    const { message, done, total } = this.progressPending;
    this.sink.progress({
      ...(message === undefined ? {} : { message: cutUtf8(message, UPDATE_LIMITS.messageBytes) }),
      ...(done === undefined ? {} : { done }),
      ...(total === undefined ? {} : { total }),
    });
  }
}
