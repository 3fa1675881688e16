import { z } from 'zod';
import { CancelRequestedData } from '#contracts';
import type { CallStore } from '#event-log';
import { keys, listenToChannels, type RedisConnection } from '#redis';
import type { AttemptLog } from './attempt-log.js';
import type { Attempt } from './attempt.js';
import type { InFlightAttempts } from './in-flight-attempts.js';

const CancelEvent = z.object({ data: CancelRequestedData });

/** Part of the caller's grace in which the worker writes the End, before the reconciler does. */
const MARGIN_MS = 250;

/**
 * Aborts attempts whose calls were cancelled. Messages are lost while the connection is down: after every reconnect the
 * snapshots of all calls in flight are checked. Lease renewals report a cancel too.
 */
export class CancelListener {
  private closed = false;

  /** `subscriber` belongs to the listener, which closes it. */
  constructor(
    readonly subscriber: RedisConnection,
    private readonly store: Pick<CallStore, 'snapshot' | 'events'>,
    private readonly inFlight: InFlightAttempts,
    private readonly defaultGraceMs: number,
    private readonly logger: AttemptLog,
  ) {}

  /** Resolves when the subscription is active. */
  async start(): Promise<void> {
    await listenToChannels(this.subscriber, new Set([keys.cancelChannel()]), {
      onMessage: (callId) => this.check(this.inFlight.byCallId(callId)),
      recheck: () => this.check(this.inFlight.all()),
    });
  }

  /** Idempotent. */
  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.subscriber.disconnect();
  }

  private check(attempts: Iterable<Attempt>): void {
    for (const attempt of attempts) void this.checkCancel(attempt);
  }

  /** Checks the snapshot, since the message may refer to an earlier attempt. */
  private async checkCancel(attempt: Attempt): Promise<void> {
    if (attempt.finishing || attempt.abortInfo) return;
    try {
      const head = await this.store.snapshot(attempt.callId);
      if (!head || head.status === 'ended') attempt.abort('lease_lost');
      else if (head.cancelRequested) attempt.abort('cancelled', await this.graceMs(attempt.callId, head.lifecycleSeqs.at(-1) ?? 0));
    } catch (error) {
      this.logger.debug(
        { callId: attempt.callId, err: error },
        'check of a call for a cancel failed; its lease renewal will report the cancel',
      );
    }
  }

  /** Grace of the cancel request, which is the last lifecycle event of the call. */
  private async graceMs(callId: string, seq: number): Promise<number> {
    const [event] = await this.store.events(callId, { afterSeq: seq - 1, limit: 1 });
    if (event?.type !== 'call.cancel_requested') return this.defaultGraceMs;
    const request = CancelEvent.safeParse(JSON.parse(event.json));
    if (!request.success) return this.defaultGraceMs;
    const { graceMs } = request.data.data;
    return Math.max(0, graceMs - Math.min(MARGIN_MS, graceMs / 4));
  }
}
