import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyReply } from 'fastify';

/** Signal that aborts when the client of the HTTP request disconnects before the response is complete. */
export const ClientDisconnect = createParamDecorator((_nothing: undefined, context: ExecutionContext): AbortSignal =>
  clientDisconnectSignal(context.getArgByIndex<FastifyReply>(1)),
);

/** Signal that aborts when the client disconnects before the response is complete. */
export function clientDisconnectSignal({ raw }: FastifyReply): AbortSignal {
  const disconnect = new AbortController();
  const look = () => {
    if (!raw.writableFinished) disconnect.abort(new Error('The client went away.'));
  };
  if (raw.destroyed) look();
  else raw.once('close', look);
  return disconnect.signal;
}
