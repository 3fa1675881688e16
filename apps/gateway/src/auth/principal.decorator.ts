import { applyDecorators, createParamDecorator, SetMetadata, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { ProblemError, type Principal, type Scope } from '#contracts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the guard on every route that is not public. */
    principal?: Principal;
  }
}

export const REQUIRED_SCOPE = Symbol('required scope');
/** The value of REQUIRED_SCOPE on routes that need no key. */
export const NO_KEY = 'no key';

/** The route needs a key with this scope. A route with neither this nor `Public` answers nobody. */
export function RequireScope(scope: Scope): MethodDecorator {
  return applyDecorators(SetMetadata(REQUIRED_SCOPE, scope));
}

/** The route (or every route of the class) needs no key: health, metrics, documents. */
export function Public(): MethodDecorator & ClassDecorator {
  return applyDecorators(SetMetadata(REQUIRED_SCOPE, NO_KEY));
}

/** Who makes the request. */
export const CurrentPrincipal = createParamDecorator((_nothing: undefined, context: ExecutionContext): Principal => {
  const { principal } = context.getArgByIndex<FastifyRequest>(0);
  if (principal === undefined) throw new ProblemError('unauthenticated', 'This route needs an API key');
  return principal;
});
