import type { FastifyRequest } from 'fastify';

/** URL under which clients reach this gateway, without a trailing slash: the configured one, else the request's. */
export function publicUrlOf({ protocol, host }: Pick<FastifyRequest, 'protocol' | 'host'>, configured: string | undefined): string {
  return configured ?? `${protocol}://${host}`;
}
