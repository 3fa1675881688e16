import { applyDecorators, createParamDecorator, SetMetadata, type ExecutionContext } from '@nestjs/common';
import { ProblemError, type Principal, type Scope } from '#contracts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the guard on every route that is not public. */
    principal?: Principal;
  }
}

export const REQUIRED_SCOPE = Symbol('required scope');
/** Value of REQUIRED_SCOPE on routes that need no key. */
export const NO_KEY = 'no key';

/** Requires a key with this scope. A route without this and without `Public` is closed to every key. */
export function RequireScope(scope: Scope): MethodDecorator {
  return applyDecorators(SetMetadata(REQUIRED_SCOPE, scope));
}

/** Opens the route (or every route of the class) without a key and without rate limit: health, metrics, documents. */
export function Public(): MethodDecorator & ClassDecorator {
  return applyDecorators(SetMetadata(REQUIRED_SCOPE, NO_KEY));
}

/** Carrier of the principal for handlers: an HTTP request, or a frame of a WebSocket. */
interface Authenticated {
  readonly principal?: Principal | undefined;
}

/** Principal of the request or frame. */
export const CurrentPrincipal = createParamDecorator((_nothing: undefined, context: ExecutionContext): Principal => {
  const { principal } = context.getArgByIndex<Authenticated>(context.getType() === 'ws' ? 1 : 0);
  if (principal === undefined) throw new ProblemError('unauthenticated', 'This route needs an API key');
  return principal;
});
