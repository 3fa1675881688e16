import { Injectable } from '@nestjs/common';
import { GatewayWarning } from '#contracts';
import { ConfigReload } from '../governance/config-reload.service.js';
import { DurableWrites } from '../platform/durable-writes.service.js';
import { MemoryGuard } from '../platform/memory-guard.service.js';

/** Faults of this gateway that do not stop it. */
@Injectable()
export class GatewayWarnings {
  private readonly sources: Readonly<Record<GatewayWarning['code'], { readonly warning: string | undefined }>>;

  constructor(config: ConfigReload, memory: MemoryGuard, durable: DurableWrites) {
    this.sources = { config_refused: config, redis_memory: memory, few_replicas: durable };
  }

  current(): GatewayWarning[] {
    return GatewayWarning.shape.code.options.flatMap((code) => {
      const message = this.sources[code].warning;
      return message === undefined ? [] : [{ code, message }];
    });
  }
}
