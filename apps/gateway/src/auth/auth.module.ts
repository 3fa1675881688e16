import { Global, Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { AdminActs } from './admin-acts.service.js';
import { ApiKeyStore } from './api-key-store.service.js';
import { Authenticator } from './authenticator.service.js';
import { CreatedKeys } from './keys/created-keys.service.js';
import { KeyRecords } from './keys/key-records.service.js';
import { KeyUses } from './keys/key-uses.service.js';
import { KeysController } from './keys/keys.controller.js';
import { KeysService } from './keys/keys.service.js';
import { OpenSockets } from './open-sockets.service.js';
import { OriginPolicy } from './origin-policy.service.js';
import { PrincipalGuard } from './principal.guard.js';
import { RateLimits } from './rate-limits.service.js';

const services = [AdminActs, ApiKeyStore, CreatedKeys, Authenticator, RateLimits, OpenSockets, OriginPolicy];

/** API keys, tokens, scopes, rate limits, limits of open sockets, and the origin check. Global: every feature asks about keys. */
@Global()
@Module({
  controllers: [KeysController],
  providers: [...services, KeyRecords, KeyUses, KeysService, { provide: APP_GUARD, useClass: PrincipalGuard }],
  exports: services,
})
export class AuthModule {}
