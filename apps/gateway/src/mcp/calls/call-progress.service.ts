import { Injectable } from '@nestjs/common';
import { systemClock, Throttle } from '#attempts';
import type { Principal } from '#contracts';
import { EventHub, upcastEvent, type Delivery, type Subscription } from '#event-log';
import { ApiKeyStore } from '../../auth/api-key-store.service.js';
import { ShutdownState } from '../../platform/shutdown-state.service.js';
import { ProgressMeter, type ProgressStep } from './progress-meter.js';

/** Ten steps a second reach a client, and a few that come at once; the last of all always does. */
const STEP_MS = 100;
const STEPS_AT_ONCE = 20;
/** Below the time after which clients give up without a sign of life. */
const SIGN_OF_LIFE_MS = 10_000;

/** How far a request has followed its call. Later waits of the same request go on from there, above the last step. */
export interface ProgressPlace {
  readonly meter: ProgressMeter;
  /** Undefined before the first event of the call. */
  cursor?: string | undefined;
}

export interface FollowRequest {
  readonly principal: Principal;
  readonly callId: string;
  /** Ends the wait; nothing is reported afterwards. */
  readonly signal: AbortSignal;
  /** Also ends the wait: the attempts after this one ask for input. */
  readonly asksAfter?: number | undefined;
  /** Begins where the request stopped following before. */
  readonly place: ProgressPlace;
  /** Called with increasing steps until the returned promise resolves, never after. */
  readonly report: (step: ProgressStep) => void;
}

/** Follows a call to its End, and reports its progress on the way. */
@Injectable()
export class CallProgress {
  constructor(
    private readonly hub: EventHub,
    private readonly apiKeys: ApiKeyStore,
    private readonly shutdown: ShutdownState,
  ) {}

  /** Resolves after the last progress when the call has ended, or when it cannot be followed: read the call then. */
  async follow({ principal, callId, signal, asksAfter, place, report }: FollowRequest): Promise<void> {
    const { meter } = place;
    const begun = Date.now();
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
    const signs = setInterval(() => take(meter.waiting(`${Math.round((Date.now() - begun) / 1000)} s`)), SIGN_OF_LIFE_MS);
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
