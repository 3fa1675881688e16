import type { FastifyReply } from 'fastify';
import type { Call } from '#contracts';
import { parsePreferWait, prefersCancel } from '../platform/http/parse.js';
import type { SubmitHeaders } from './submit-headers.js';

/** Sends 200 for an ended call, else 202. Sets `Location` and `Preference-Applied`. */
export function sendCallResponse(reply: FastifyReply, call: Call, { prefer }: SubmitHeaders): void {
  reply.status(call.status === 'ended' ? 200 : 202).header('Location', `/v1/calls/${call.id}`);
  const wait = parsePreferWait(prefer);
  if (wait !== undefined) reply.header('Preference-Applied', `wait=${wait}${prefersCancel(prefer) ? ', cancel-on-disconnect' : ''}`);
  reply.send(call);
}
