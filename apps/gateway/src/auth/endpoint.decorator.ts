import { HttpCode, RequestMapping, RequestMethod, applyDecorators, createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';
import type { ResponseOf, Route } from '#contracts';
import { parse } from '../platform/http/parse.js';
import { Public, RequireScope } from './principal.decorator.js';

const ServedRoute = Reflector.createDecorator<Route>();
const reflector = new Reflector();
const METHODS = { get: RequestMethod.GET, post: RequestMethod.POST, put: RequestMethod.PUT, delete: RequestMethod.DELETE } as const;

/** Handler that returns the response's body, or nothing if it writes the response itself. */
type Handler<R extends Route> = (...args: never[]) => ResponseOf<R> | void | Promise<ResponseOf<R> | void>;

/**
 * Serves a route of the contract: its method, path, scope and, unless the handler sets another, its first documented status. A
 * handler whose result does not match the route does not compile.
 *
 * @example
 * ```ts
 * @Endpoint(ROUTES.cancelCall)
 * cancel(@CurrentPrincipal() caller: Principal, @RouteBody() body: BodyOf<typeof ROUTES.cancelCall>): Promise<Call> { ... }
 * ```
 */
export function Endpoint<R extends Route>(
  route: R,
): <H extends Handler<R>>(target: object, key: string | symbol, handler: TypedPropertyDescriptor<H>) => void {
  const [status] = Object.keys(route.responses);
  return applyDecorators(
    ServedRoute(route),
    RequestMapping({ method: METHODS[route.method], path: nestPath(route.path) }),
    HttpCode(Number(status)),
    route.scope === undefined ? Public() : RequireScope(route.scope),
  );
}

/**
 * Body in the form that the route documents. `parsedBy` replaces the schema of the route with a cheaper one. Nest gives other
 * meanings to a schema as the argument, and to an object with the member `schema`.
 */
export const RouteBody = createParamDecorator(
  (options: { readonly parsedBy: z.ZodType } | undefined, context: ExecutionContext): unknown => {
    const route = reflector.get(ServedRoute, context.getHandler());
    const { body } = context.getArgByIndex<FastifyRequest>(0);
    return parse(options?.parsedBy ?? documented(route.body), route.bodyOptional ? (body ?? {}) : body, 'body');
  },
);

/** Query in the form that the route documents. */
export const RouteQuery = createParamDecorator((_nothing: undefined, context: ExecutionContext): unknown =>
  parse(documented(reflector.get(ServedRoute, context.getHandler()).query), context.getArgByIndex<FastifyRequest>(0).query, 'query'),
);

/** Path of the contract in the router's syntax: `:name` for `{name}`, `::` for a colon. */
export function nestPath(path: string): string {
  return path.replaceAll(':', '::').replaceAll(/\{(\w+)\}/g, ':$1');
}

function documented(schema: z.ZodType | undefined): z.ZodType {
  if (schema === undefined) throw new TypeError('The route of this handler documents neither a body nor a query of this kind');
  return schema;
}
