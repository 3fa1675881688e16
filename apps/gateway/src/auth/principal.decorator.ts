import { applyDecorators, createParamDecorator, SetMetadata, type ExecutionContext } from '@nestjs/common';
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

/** The route or frame needs a key with this scope. A route with neither this nor `Public` is closed to every key. */
export function RequireScope(scope: Scope): MethodDecorator {
  return applyDecorators(SetMetadata(REQUIRED_SCOPE, scope));
}

/** The route (or every route of the class) needs no key and counts for no rate limit: health, metrics, documents. */
export function Public(): MethodDecorator & ClassDecorator {
  return applyDecorators(SetMetadata(REQUIRED_SCOPE, NO_KEY));
}

/** What a guard leaves the principal on: an HTTP request, or a frame of a WebSocket. */
interface Authenticated {
  readonly principal?: Principal | undefined;
}

/** The key's principal that makes the request or sent the frame. */
export const CurrentPrincipal = createParamDecorator((_nothing: undefined, context: ExecutionContext): Principal => {
  const { principal } = context.getArgByIndex<Authenticated>(context.getType() === 'ws' ? 1 : 0);
  if (principal === undefined) throw new ProblemError('unauthenticated', 'This route needs an API key');
  return principal;
});
