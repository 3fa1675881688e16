import type { FastifyReply } from 'fastify';

/** Aborted when the client disconnects before the response is complete. */
export function clientDisconnectSignal({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController();
  const look = () => {
    if (!raw.writableFinished) gone.abort(new Error('The client went away.'));
  };
  if (raw.destroyed) look();
  else raw.once('close', look);
  return gone.signal;
}
