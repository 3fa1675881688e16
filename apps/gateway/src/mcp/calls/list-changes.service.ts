import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { ServerEventBus } from '@modelcontextprotocol/server';
import type { Logger } from 'pino';
import type { Principal } from '#contracts';
import { everyMs, type Ticker } from '#timing';
import { ApiKeyStore } from '../../auth/api-key-store.service.js';
import { ToolCatalog } from '../../calls/tool-catalog.service.js';
import { LOGGER } from '../../platform/tokens.js';

const LOOK_MS = 1_000;

interface Watched {
  /** Undefined before the first check. */
  seen: string | undefined;
  readonly listeners: Set<() => void>;
}

/**
 * Notifies listeners of changes of the tools available to their key, whatever the cause: sources, workers, policy, the key
 * itself. Each gateway checks the keys of its own listeners once a second, so that changes need no message between gateways,
 * and many changes at once yield one notification.
 */
@Injectable()
export class ListChanges implements OnApplicationShutdown {
  private readonly watched = new Map<Principal, Watched>();
  private ticker: Ticker | undefined;
  private looking = false;

  constructor(
    private readonly catalog: ToolCatalog,
    private readonly apiKeys: ApiKeyStore,
    @Inject(LOGGER) private readonly log: Logger,
  ) {}

  onApplicationShutdown(): void {
    this.ticker?.unsubscribe();
    this.watched.clear();
  }

  /** Calls `changed` after each change, until the returned function is called. Idempotent. */
  watch(principal: Principal, changed: () => void): () => void {
    const watched = this.watched.get(principal) ?? { seen: undefined, listeners: new Set() };
    this.watched.set(principal, watched);
    const listener = () => changed();
    watched.listeners.add(listener);
    this.ticker ??= everyMs(LOOK_MS, () => this.look());
    void this.look();
    return () => {
      watched.listeners.delete(listener);
      if (watched.listeners.size === 0 && this.watched.get(principal) === watched) this.watched.delete(principal);
      if (this.watched.size > 0) return;
      this.ticker?.unsubscribe();
      this.ticker = undefined;
    };
  }

  /** Event bus of the SDK for `subscriptions/listen`. */
  busOf(principal: Principal): ServerEventBus {
    return {
      publish: () => {},
      subscribe: (listener) => this.watch(principal, () => listener({ kind: 'tools_list_changed' })),
    };
  }

  private async look(): Promise<void> {
    if (this.looking) return;
    this.looking = true;
    try {
      for (const [principal, watched] of this.watched) {
        // Catches errors of one key, so that the others get their notifications.
        await this.lookAt(principal, watched).catch((error: unknown) =>
          this.log.debug({ err: error }, 'could not look for changes of the tools'),
        );
      }
    } finally {
      this.looking = false;
    }
  }

  private async lookAt(principal: Principal, watched: Watched): Promise<void> {
    const tools = await this.catalog.forModel(this.apiKeys.current(principal) ?? principal);
    const seen = tools.map(({ name, version }) => `${name} ${version}`).join('\n');
    const changed = watched.seen !== undefined && watched.seen !== seen;
    watched.seen = seen;
    if (changed) for (const listener of watched.listeners) listener();
  }
}
