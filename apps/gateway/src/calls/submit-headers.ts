import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply } from 'fastify';
import type { SubmitOptions } from './admission/submission.js';
import { clientDisconnectSignal } from '../platform/http/client-disconnect.js';
import { ProblemError, type Principal } from '#contracts';
import { parseIdempotencyKey, parsePreferWait, parseTraceparent, prefersCancel } from '../platform/http/parse.js';

export type SubmitHeaders = IncomingHttpHeaders & { 'idempotency-key'?: string; traceparent?: string; prefer?: string };

/** Submission options in the headers. */
export function submitOptions(headers: SubmitHeaders): SubmitOptions {
  return {
    idempotencyKey: parseIdempotencyKey(headers['idempotency-key']),
    traceparent: parseTraceparent(headers.traceparent),
    waitMs: waitMsOf(headers),
  };
}

/**
 * Submission options of one call, with the client's disconnect signal.
 * @throws ProblemError `forbidden` for a cancel preference without the scope `cancel`
 */
export function callOptions({ scopes }: Principal, headers: SubmitHeaders, reply: FastifyReply): SubmitOptions {
  const cancelOnDisconnect = prefersCancel(headers.prefer);
  if (cancelOnDisconnect && !scopes.includes('cancel'))
    throw new ProblemError('forbidden', `Prefer: cancel-on-disconnect needs the scope cancel; the key has ${scopes.join(', ')}`);
  // One literal: every stage reads these options, and spread objects are slow to create and to read.
  return {
    idempotencyKey: parseIdempotencyKey(headers['idempotency-key']),
    traceparent: parseTraceparent(headers.traceparent),
    waitMs: waitMsOf(headers),
    cancelOnDisconnect,
    clientDisconnectSignal: () => clientDisconnectSignal(reply),
  };
}

function waitMsOf({ prefer }: SubmitHeaders): number | undefined {
  const wait = parsePreferWait(prefer);
  return wait === undefined ? undefined : wait * 1000;
}
