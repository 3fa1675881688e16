import { Inject, Injectable } from '@nestjs/common';
import type { Diagnostics } from '#contracts';
import { VERSION } from '#lifecycle';
import { readRedisFacts, type RedisConnection } from '#redis';
import { GATEWAY_CONFIG, type GatewayConfig } from '../gateway.config.js';
import { ConfigReload } from '../policy/config-reload.service.js';
import { PROMPT_REDIS } from '../tokens.js';

/** What this process sees of itself and of its Redis, for an operator. */
@Injectable()
export class DiagnosticsService {
  constructor(
    @Inject(PROMPT_REDIS) private readonly redis: RedisConnection,
    @Inject(GATEWAY_CONFIG) private readonly config: GatewayConfig,
    private readonly configReload: ConfigReload,
  ) {}

  async look(): Promise<Diagnostics> {
    const { name, durability, partitions } = this.config;
    const { warning } = this.configReload;
    const redis = await readRedisFacts(this.redis);
    return {
      version: VERSION,
      node: process.version,
      gateway: name,
      time: new Date().toISOString(),
      durability,
      partitions,
      redis,
      warnings: warning === undefined ? [] : [warning],
    };
  }
}
