import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import pino from 'pino';
import { ConfigFile, SafetySettings } from '#contracts';
import { createRedis, type RedisConnection } from '#redis';
import { ApiKeyStore } from '../auth/api-key-store.service.js';
import { Authenticator } from '../auth/authenticator.service.js';
import { readGatewayConfig, type GatewayConfig } from '../platform/gateway.config.js';
import { HookConfigService } from './hook-config.service.js';
import { LimitConfigService } from './limit-config.service.js';
import { RedactionConfigService } from './redaction-config.service.js';
import { ConfigReload } from './config-reload.service.js';
import { WebhookConfigService } from './webhook-config.service.js';
import { SourceConfigService } from './source-config.service.js';
import { SkillLibrary } from '../skills/skill-library.service.js';
import { PolicyConfigService } from './policy-config.service.js';

const base = readGatewayConfig({ TOOLYARD_API_KEY: 'key-of-the-reload-specs', REDIS_URL: process.env['TEST_REDIS_URL'] });
const valueOf = (edition: string) => `canary of the ${edition} edition`;

/** Redis connection whose writes of settings are answered by the test, in any order. */
function withHeldWrites(redis: RedisConnection): { redis: RedisConnection; answers: (() => void)[] } {
  const answers: (() => void)[] = [];
  const held = new Proxy(redis, {
    get: (target, name) => {
      if (name !== 'set') return Reflect.get(target, name) as unknown;
      return (...args: [string, string]) => new Promise((resolve) => answers.push(() => resolve(target.set(...args))));
    },
  });
  return { redis: held, answers };
}

describe('reloads of the config file that overlap', () => {
  let redis: RedisConnection;
  beforeEach(() => void (redis = createRedis(base.redisUrl)));
  afterEach(() => redis.disconnect());

  it('leaves the newest of overlapping reloads in force, whichever Redis answers last', async () => {
    const { redis: held, answers } = withHeldWrites(redis);
    let edition = 'first';
    const read = (): GatewayConfig => ({
      ...base,
      fourEyes: edition === 'newest',
      safety: SafetySettings.parse({ redaction: { values: [valueOf(edition)] } }),
    });
    const config = { ...base, file: { path: '/dev/null', read } };
    const log = pino({ level: 'silent' });
    const safety = new RedactionConfigService(config, held, log);
    const rulebook = new PolicyConfigService(config);
    const reload = new ConfigReload(
      rulebook,
      new LimitConfigService(config),
      new Authenticator(new ApiKeyStore(config), config, log),
      new HookConfigService(config),
      safety,
      new SourceConfigService(config, redis, log),
      new SkillLibrary(config),
      new WebhookConfigService(config),
      { recordOwn: () => Promise.resolve() },
      config,
      log,
    );

    const older = reload.reload();
    edition = 'newest';
    const newer = reload.reload();
    answers[1]?.();
    await newer;
    answers[0]?.();
    await older;
    expect(rulebook.requiresFourEyes('default')).toBe(true);
    expect(safety.of('default').text(`${valueOf('first')}, ${valueOf('newest')}`)).toBe(`${valueOf('first')}, [REDACTED]`);
    reload.onApplicationShutdown();
  });
});

it('applies the settings of all tenants to a tenant as far as it has none of its own', () => {
  const { tenants } = ConfigFile.parse({
    tenants: { acme: { approvals: {}, sessionHooks: {} }, other: { approvals: { fourEyes: false } } },
  });
  const settings = { ...base, fourEyes: true, sessionHooks: { commands: true }, tenantRules: tenants };
  const policy = new PolicyConfigService(settings);
  expect(['acme', 'other'].map((tenant) => policy.requiresFourEyes(tenant))).toEqual([true, false]);
  expect(new HookConfigService(settings).allowsCommands('acme')).toBe(true);
});
