import { z } from 'zod';
import { Principal, WorkerFrame, WorkerPollBody, WorkerPollPage, type ErrorCode } from '#contracts';

const id = z.string();
const request = { id, /** The channel for the answer. */ from: z.string(), workerId: z.string(), principal: Principal };

/** Messages between gateways about polling workers. */
export const RelayMessage = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('poll'), ...request, body: WorkerPollBody, waitMs: z.number() }),
  z.object({ kind: z.literal('messages'), ...request, frames: z.array(WorkerFrame) }),
  /** The worker no longer waits for the response. */
  z.object({ kind: z.literal('cut'), id }),
  /** The gateway of the worker has received the request. */
  z.object({ kind: z.literal('taken'), id }),
  z.object({ kind: z.literal('answer'), id, page: WorkerPollPage.optional() }),
  z.object({ kind: z.literal('problem'), id, code: z.custom<ErrorCode>((code) => typeof code === 'string'), detail: z.string() }),
]);
export type RelayMessage = z.output<typeof RelayMessage>;
export type RelayRequest = Extract<RelayMessage, { kind: 'poll' | 'messages' }>;
