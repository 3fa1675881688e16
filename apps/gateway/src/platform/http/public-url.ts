import type { FastifyRequest } from 'fastify';

/** The URL under which clients reach this gateway, without a slash at its end: the configured one, else the one of the request. */
export function publicUrlOf({ protocol, host }: Pick<FastifyRequest, 'protocol' | 'host'>, configured: string | undefined): string {
  return configured ?? `${protocol}://${host}`;
}
