import { Inject, Injectable } from '@nestjs/common';
import { silentConnection } from '#platform';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/gateway.config.js';
import { ShutdownState } from '../platform/shutdown-state.service.js';

/** Not ready while this process drains, or while one of its connections to Redis does not respond. */
@Injectable()
export class Readiness {
  constructor(
    private readonly drain: ShutdownState,
    @Inject(GATEWAY_CONFIG) private readonly config: Pick<GatewayConfig, 'redisUrl'>,
  ) {}

  /** Reason why this process is not ready; undefined if it is. Never rejects. */
  async notReadyReason(): Promise<string | undefined> {
    if (this.drain.draining) return 'This gateway is stopping; another one takes over';
    const silent = await silentConnection(this.config.redisUrl);
    return silent && `Redis does not answer on the connection ${silent}`;
  }
}
