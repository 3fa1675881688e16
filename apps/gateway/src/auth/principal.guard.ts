import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ProblemError, type Principal, type Scope } from '#contracts';
import { ApiKeyStore } from './api-key-store.service.js';
import { RateLimits, type RateLimitResult } from './rate-limits.service.js';
import { NO_KEY, REQUIRED_SCOPE } from './principal.decorator.js';

/** Who asks (401), may they (403), and not too often (429). The one guard, on every route; it cannot be switched off. */
@Injectable()
export class PrincipalGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly apiKeys: ApiKeyStore,
    private readonly rateLimits: RateLimits,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const required = this.reflector.getAllAndOverride<Scope | typeof NO_KEY | undefined>(REQUIRED_SCOPE, [
      context.getHandler(),
      context.getClass(),
    ]);
    if (required === NO_KEY) return true;

    const request = context.getArgByIndex<FastifyRequest>(0);
    const principal = this.identify(request);
    if (required === undefined || !principal.scopes.includes(required)) {
      throw new ProblemError(
        'forbidden',
        `This route needs the scope ${required ?? '(none is set: nobody may call it)'}; the key has ${principal.scopes.join(', ')}`,
      );
    }
    request.principal = principal;
    const verdict = this.rateLimits.take(principal);
    return verdict === undefined || verdict.then((taken) => applyRate(taken, context.getArgByIndex<FastifyReply>(1)));
  }

  private identify(request: FastifyRequest): Principal {
    const { authorization } = request.headers;
    const token = authorization === undefined ? undefined : /^Bearer +(\S{1,8192}) *$/i.exec(authorization)?.[1];
    if (token === undefined) throw new ProblemError('unauthenticated', 'Expected the header Authorization: Bearer <API key>');
    const principal = this.apiKeys.authenticate(token, request.raw.socket);
    if (principal === undefined) throw new ProblemError('unauthenticated', 'The API key is unknown or has expired');
    return principal;
  }
}

/** Headers of draft-ietf-httpapi-ratelimit-headers; one policy, named after what it counts. */
function applyRate({ allowed, limit, remaining, windowSeconds, resetMs }: RateLimitResult, reply: FastifyReply): boolean {
  reply.header('RateLimit-Policy', `"requests";q=${limit};w=${windowSeconds}`);
  reply.header('RateLimit', `"requests";r=${remaining};t=${Math.ceil(resetMs / 1000)}`);
  if (allowed) return true;
  throw new ProblemError('too_many_requests', `The key may make ${limit} requests a minute`, { retryAfterMs: resetMs });
}
