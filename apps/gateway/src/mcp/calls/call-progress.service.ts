import { Injectable } from '@nestjs/common';
import { systemClock, Throttle } from '#attempts';
import type { Principal } from '#contracts';
import { EventHub, upcastEvent, type Delivery, type Subscription } from '#event-log';
import { ApiKeyStore } from '../../auth/api-key-store.service.js';
import { ShutdownState } from '../../platform/shutdown-state.service.js';
import { ProgressMeter, type ProgressStep } from './progress-meter.js';

/** Rate of progress to a client: ten steps a second after a short burst; the last step is always sent. */
const STEP_MS = 100;
const STEPS_AT_ONCE = 20;
/** Shorter than the time after which clients give up without progress. */
const SIGN_OF_LIFE_MS = 10_000;

/** Position of a request in its call's progress. Later waits of the same request continue there, above the last step. */
export interface ProgressPlace {
  readonly meter: ProgressMeter;
  /** Undefined before the first event of the call. */
  cursor?: string | undefined;
}

export interface FollowRequest {
  readonly principal: Principal;
  readonly callId: string;
  /** Ends the wait and all reports. */
  readonly signal: AbortSignal;
  /** Attempt after which a request for input also ends the wait. */
  readonly asksAfter?: number | undefined;
  /** Position at which the previous wait of the request ended. */
  readonly place: ProgressPlace;
  /** Called with increasing steps, only until the returned promise resolves. */
  readonly report: (step: ProgressStep) => void;
}

/** Follows a call to its End and reports its progress. */
@Injectable()
export class CallProgress {
  constructor(
    private readonly hub: EventHub,
    private readonly apiKeys: ApiKeyStore,
    private readonly shutdown: ShutdownState,
  ) {}

  /** Resolves after the last progress if the call has ended, or if it cannot be followed; then the caller reads the call. */
  async follow({ principal, callId, signal, asksAfter, place, report }: FollowRequest): Promise<void> {
    const { meter } = place;
    const startedAt = Date.now();
    let waiting: ProgressStep | undefined;
    const flush = () => {
      if (waiting !== undefined && !signal.aborted) report(waiting);
      waiting = undefined;
    };
    const pace = new Throttle(systemClock, () => STEP_MS, flush, STEPS_AT_ONCE);
    const take = (step: ProgressStep | undefined) => {
      if (step === undefined) return;
      waiting = step;
      pace.request();
    };
    const signs = setInterval(() => take(meter.waiting(`${Math.round((Date.now() - startedAt) / 1000)} s`)), SIGN_OF_LIFE_MS);
    let over = (): void => {};
    const followed = new Promise<void>((resolve) => (over = resolve));
    const end = () => over();
    const deliver = (delivery: Delivery) => {
      switch (delivery.kind) {
        case 'started':
          return;
        case 'events':
          for (const { json } of delivery.batch.events) {
            const event = upcastEvent(json);
            take(meter.stepOf(event));
            if (event.type === 'call.input_requested' && event.attempt > (asksAfter ?? Infinity)) over();
          }
          place.cursor = delivery.batch.cursor;
          if (delivery.batch.events.at(-1)?.type === 'call.end') over();
          return;
        case 'resync':
          place.cursor = delivery.cursor;
          if (delivery.snapshot.every(({ status }) => status === 'ended' || status === 'waiting_input')) over();
          return;
        case 'failed':
          return over();
        default:
          return delivery satisfies never;
      }
    };
    let subscription: Subscription | undefined;
    const unwatch = this.apiKeys.watch(principal, 'submit', end);
    for (const aborted of [signal, this.shutdown.signal]) aborted.addEventListener('abort', end);
    try {
      if (signal.aborted || this.shutdown.draining) return;
      subscription = this.hub.subscribe({ tenantId: principal.tenantId, filter: { callId }, cursor: place.cursor, deliver });
      await followed;
    } finally {
      unwatch();
      for (const aborted of [signal, this.shutdown.signal]) aborted.removeEventListener('abort', end);
      subscription?.close();
      clearInterval(signs);
      pace.close();
    }
  }
}
