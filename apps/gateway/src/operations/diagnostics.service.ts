import { Inject, Injectable } from '@nestjs/common';
import type { Diagnostics } from '#contracts';
import { ConfigError, PROTOCOL, readRunningProcesses, VERSION } from '#platform';
import { getServerInfo, type RedisConnection } from '#redis';
import { configFactsOf } from '../platform/config-facts.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/gateway.config.js';
import { ConfigReload } from '../governance/config-reload.service.js';
import { FAIL_FAST_REDIS } from '../platform/tokens.js';
import { GatewayWarnings } from './gateway-warnings.service.js';

/** Facts about this process and its Redis, for an operator. */
@Injectable()
export class DiagnosticsService {
  constructor(
    @Inject(FAIL_FAST_REDIS) private readonly redis: RedisConnection,
    @Inject(GATEWAY_CONFIG) private readonly config: GatewayConfig,
    private readonly configReload: ConfigReload,
    private readonly warnings: GatewayWarnings,
  ) {}

  async read(): Promise<Diagnostics> {
    const { name, durability, partitions } = this.config;
    const [redis, processes] = await Promise.all([getServerInfo(this.redis), readRunningProcesses(this.redis)]);
    return {
      version: VERSION,
      node: process.version,
      gateway: name,
      time: new Date().toISOString(),
      durability,
      partitions,
      protocol: PROTOCOL,
      processes,
      redis,
      ...(this.config.file === undefined ? {} : { config: configOf(this.config.file, this.configReload.sha256) }),
      warnings: this.warnings.current(),
    };
  }
}

/** Current file. A file with a fault is not active, and the warnings state the reason. */
function configOf(file: NonNullable<GatewayConfig['file']>, sha256: string): NonNullable<Diagnostics['config']> {
  try {
    const { path, ...counts } = configFactsOf(file.read()) ?? { path: file.path };
    return { file: path, sha256, ...counts };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { file: file.path, sha256 };
  }
}
