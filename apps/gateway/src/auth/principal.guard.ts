import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Principal, Scope } from '#contracts';
import { assertScope, assertWithinRate } from './access.js';
import { Authenticator } from './authenticator.service.js';
import { RateLimits, type RateLimitResult } from './rate-limits.service.js';
import { NO_KEY, REQUIRED_SCOPE } from './principal.decorator.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the guard on every route that is not public. */
    principal?: Principal;
  }
}

/** Scope declared by a handler or its class; undefined for none. */
type Required = Scope | typeof NO_KEY | undefined;

/** Frame of a WebSocket, whose session has already checked the key. */
export interface GuardedFrame {
  readonly principal: Principal;
  readonly session: { readonly flow: { passInOrder(check: Promise<boolean> | undefined): boolean | Promise<boolean> } };
}

/** Checks key (401), scope (403) and rate (429) of every HTTP request and every WebSocket frame. Cannot be switched off. */
@Injectable()
export class PrincipalGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly authenticator: Authenticator,
    private readonly rateLimits: RateLimits,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const required = this.reflector.getAllAndOverride<Required>(REQUIRED_SCOPE, [context.getHandler(), context.getClass()]);
    if (context.getType() === 'ws') return this.admitFrame(context.getArgByIndex<GuardedFrame>(1), required);
    return required === NO_KEY || this.admitRequest(context, required);
  }

  private admitRequest(context: ExecutionContext, required: Scope | undefined): boolean | Promise<boolean> {
    const found = this.identify(context.getArgByIndex<FastifyRequest>(0));
    return found instanceof Promise
      ? found.then((principal) => this.admit(context, principal, required))
      : this.admit(context, found, required);
  }

  private admit(context: ExecutionContext, principal: Principal, required: Scope | undefined): boolean | Promise<boolean> {
    assertScope(principal, required);
    context.getArgByIndex<FastifyRequest>(0).principal = principal;
    const counting = this.rateLimits.take(principal);
    return counting === undefined || counting.then((result) => applyRate(result, context.getArgByIndex<FastifyReply>(1)));
  }

  private admitFrame({ session, principal }: GuardedFrame, required: Required): boolean | Promise<boolean> {
    if (required === NO_KEY) return session.flow.passInOrder(undefined);
    assertScope(principal, required);
    return session.flow.passInOrder(this.rateLimits.take(principal)?.then(assertWithinRate));
  }

  private identify(request: FastifyRequest): Principal | Promise<Principal> {
    return this.authenticator.identifyRequest(request);
  }
}

/** Headers of draft-ietf-httpapi-ratelimit-headers, with one policy, named after its unit. */
function applyRate(result: RateLimitResult, reply: FastifyReply): boolean {
  const { limit, remaining, windowSeconds, resetMs } = result;
  reply.header('RateLimit-Policy', `"requests";q=${limit};w=${windowSeconds}`);
  reply.header('RateLimit', `"requests";r=${remaining};t=${Math.ceil(resetMs / 1000)}`);
  return assertWithinRate(result);
}
