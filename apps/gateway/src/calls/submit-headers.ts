import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply } from 'fastify';
import type { SubmitOptions } from './admission/submission.js';
import { clientDisconnectSignal } from '../platform/http/client-disconnect.js';
import { ProblemError, type Principal } from '#contracts';
import { parseIdempotencyKey, parsePreferWait, parseTraceparent, prefersCancel } from '../platform/http/parse.js';

export type SubmitHeaders = IncomingHttpHeaders & { 'idempotency-key'?: string; traceparent?: string; prefer?: string };

/** What the headers of a submission ask for. */
export function submitOptions(headers: SubmitHeaders): SubmitOptions {
  return {
    idempotencyKey: parseIdempotencyKey(headers['idempotency-key']),
    traceparent: parseTraceparent(headers.traceparent),
    waitMs: waitMsOf(headers),
  };
}

/** The same for one call, and whether the client is still there. Throws `forbidden` when it may not cancel, but asks for it. */
export function callOptions({ scopes }: Principal, headers: SubmitHeaders, reply: FastifyReply): SubmitOptions {
  const cancelOnDisconnect = prefersCancel(headers.prefer);
  if (cancelOnDisconnect && !scopes.includes('cancel'))
    throw new ProblemError('forbidden', `Prefer: cancel-on-disconnect needs the scope cancel; the key has ${scopes.join(', ')}`);
  // One literal: every stage reads these options, and objects made by spreading are slow to make and to read.
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
