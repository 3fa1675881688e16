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
import { LoginProvider } from './login/login-provider.service.js';
import { LoginRecords } from './login/login-records.service.js';
import { LoginSessions } from './login/login-sessions.service.js';
import { LoginController } from './login/login.controller.js';
import { LoginService } from './login/login.service.js';
import { OpenSockets } from './open-sockets.service.js';
import { OriginPolicy } from './origin-policy.service.js';
import { PrincipalGuard } from './principal.guard.js';
import { RateLimits } from './rate-limits.service.js';

const services = [AdminActs, ApiKeyStore, CreatedKeys, Authenticator, RateLimits, OpenSockets, OriginPolicy];

/** API keys, tokens, scopes, rate limits, limits of open sockets, and the origin check. Global: every feature needs keys. */
@Global()
@Module({
  controllers: [KeysController, LoginController],
  providers: [
    ...services,
    KeyRecords,
    KeyUses,
    KeysService,
    LoginProvider,
    LoginRecords,
    LoginSessions,
    LoginService,
    { provide: APP_GUARD, useClass: PrincipalGuard },
  ],
  exports: [...services, KeysService],
})
export class AuthModule {}
