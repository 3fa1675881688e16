import type { Call, CancelBody, DecisionBody, Principal, SubmitCallBody } from '#contracts';
import type { EventHub } from '#event-log';
import type { ApiKeyStore } from '../../auth/api-key-store.service.js';
import type { RateLimitResult } from '../../auth/rate-limits.service.js';
import type { DeliveryLimits } from '../delivery/socket-outbox.js';

/** What a socket needs of the gateway. */
export interface StreamDependencies {
  readonly hub: Pick<EventHub, 'subscribe' | 'currentPosition'>;
  readonly submitCall: {
    submit(
      principal: Principal,
      body: SubmitCallBody,
      options: { idempotencyKey?: string | undefined; traceparent?: string | undefined; clientDisconnectSignal?: () => AbortSignal },
    ): Promise<{ call: Call; created: boolean }>;
  };
  readonly cancelCall: { cancel(principal: Principal, callId: string, request: CancelBody): Promise<Call> };
  readonly decideApproval: { decide(principal: Principal, callId: string, body: DecisionBody): Promise<Call> };
  readonly reader: { head(principal: Principal, callId: string): Promise<unknown> };
  readonly apiKeys: Pick<ApiKeyStore, 'authenticate' | 'current' | 'rejection' | 'watch' | 'onChange'>;
  readonly rateLimits: { take(principal: Principal): Promise<RateLimitResult> | undefined };
  /** Told of errors that nobody foresaw. */
  readonly onInternalError: (error: unknown) => void;
}

export interface StreamLimits {
  readonly authMs: number;
  readonly burst: number;
  readonly framesPerSecond: number;
  /** Operations that wait for the log; beyond it the socket is not read. */
  readonly inFlight: number;
  /** Submitted calls of one socket that have not ended. */
  readonly followedCalls: number;
  readonly filters: number;
  readonly delivery: DeliveryLimits;
}
