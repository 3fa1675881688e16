import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply } from 'fastify';
import type { SubmitOptions } from '../calls/submit-call.service.js';
import { whenGone } from '../hooks/gone.js';
import { parseIdempotencyKey, parsePreferWait, parseTraceparent } from './parse.js';

export type SubmitHeaders = IncomingHttpHeaders & { 'idempotency-key'?: string; traceparent?: string; prefer?: string };

/** What the headers of a submission ask for, and with `reply` whether anybody still waits for it. */
export function submitOptions(headers: SubmitHeaders, reply?: FastifyReply): SubmitOptions {
  const wait = parsePreferWait(headers.prefer);
  return {
    idempotencyKey: parseIdempotencyKey(headers['idempotency-key']),
    traceparent: parseTraceparent(headers.traceparent),
    waitMs: wait === undefined ? undefined : wait * 1000,
    gone: reply && (() => whenGone(reply)),
  };
}
