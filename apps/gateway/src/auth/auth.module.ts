import { Global, Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { ApiKeyStore } from './api-key-store.service.js';
import { Authenticator } from './authenticator.service.js';
import { OpenSockets } from './open-sockets.service.js';
import { OriginPolicy } from './origin-policy.service.js';
import { PrincipalGuard } from './principal.guard.js';
import { RateLimits } from './rate-limits.service.js';

const services = [ApiKeyStore, Authenticator, RateLimits, OpenSockets, OriginPolicy];

/** API keys, tokens, scopes, rate limits, limits of open sockets, and the origin check. Global: every feature asks about keys. */
@Global()
@Module({ providers: [...services, { provide: APP_GUARD, useClass: PrincipalGuard }], exports: services })
export class AuthModule {}
