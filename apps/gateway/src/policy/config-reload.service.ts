import { readFileSync, watch, type FSWatcher } from 'node:fs';
import { dirname } from 'node:path';
import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import type { Logger } from 'pino';
import { signals } from '#signals';
import { KeyRing } from '../auth/key-ring.service.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../gateway.config.js';
import { HookBook } from '../hooks/hook-book.service.js';
import { LimitSettings } from '../limits/limit-settings.service.js';
import { SafetyEdition } from '../safety/safety-edition.service.js';
import { LOGGER } from '../tokens.js';
import { Rulebook } from './rulebook.service.js';

/** Editors and orchestrators write in several steps; the last one counts. */
const SETTLE_MS = 100;

/**
 * Takes over the config file when it changes or on SIGHUP: policy, agents, limits, keys, hooks. A file with a fault is refused
 * as a whole, logged and told by `warning`, and what was in force stays. Calls that were judged before are not judged again.
 */
@Injectable()
export class ConfigReload implements OnApplicationBootstrap, OnApplicationShutdown {
  private watcher: FSWatcher | undefined;
  private timer: NodeJS.Timeout | undefined;
  private text: string | undefined;
  private refused: string | undefined;
  private readonly onSignal = () => this.reload();

  constructor(
    private readonly rulebook: Rulebook,
    private readonly limits: LimitSettings,
    private readonly keys: KeyRing,
    private readonly hooks: HookBook,
    private readonly safety: SafetyEdition,
    @Inject(GATEWAY_CONFIG) private readonly config: GatewayConfig,
    @Inject(LOGGER) private readonly log: Logger,
  ) {}

  /** Why the file as it is now is not in force, without its contents; undefined when it is. */
  get warning(): string | undefined {
    return this.refused;
  }

  onApplicationBootstrap(): void {
    const { file } = this.config;
    if (file === undefined) return;
    this.text = textOf(file.path);
    process.on('SIGHUP', this.onSignal);
    try {
      // The folder, since a file that is replaced is another one.
      this.watcher = watch(dirname(file.path), { persistent: false }, () => this.soon());
      this.watcher.on('error', (error) => this.log.warn({ err: error }, 'the config file is not watched any more; SIGHUP reloads it'));
    } catch (error) {
      this.log.warn({ err: error }, 'the config file cannot be watched; SIGHUP reloads it');
    }
  }

  onApplicationShutdown(): void {
    process.off('SIGHUP', this.onSignal);
    clearTimeout(this.timer);
    this.watcher?.close();
  }

  /** Reads the file now. Never throws. */
  reload(): void {
    const { file } = this.config;
    if (file === undefined) return;
    this.text = textOf(file.path);
    try {
      const fresh = file.read();
      this.rulebook.replace(fresh);
      this.safety.replace(fresh.safety);
      this.limits.replace(fresh);
      this.keys.replace(fresh.keys);
      this.hooks.replace(fresh);
      this.refused = undefined;
      this.log.info({ path: file.path }, 'the config file was taken over');
    } catch (error) {
      this.refused = 'The config file has changed and was refused; the one before stays in force. The log names line and field.';
      this.log.error(
        { path: file.path, faults: error instanceof Error ? error.message : String(error) },
        'the changed config file was refused',
      );
    }
    signals.configRead.emit({ ok: this.refused === undefined });
  }

  private soon(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      if (this.config.file !== undefined && textOf(this.config.file.path) !== this.text) this.reload();
    }, SETTLE_MS).unref();
  }
}

/** Undefined while it cannot be read, which a changed file may be for a moment. */
function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
