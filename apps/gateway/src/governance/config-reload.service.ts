import { readFileSync, watch, type FSWatcher } from 'node:fs';
import { dirname } from 'node:path';
import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import type { Logger } from 'pino';
import { telemetry } from '#observability';
import { sha256Hex } from '#redis';
import { AdminActs } from '../auth/admin-acts.service.js';
import { Authenticator } from '../auth/authenticator.service.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/gateway.config.js';
import { configChanges } from './config-changes.js';
import { HookConfigService } from './hook-config.service.js';
import { LimitConfigService } from './limit-config.service.js';
import { WebhookConfigService } from './webhook-config.service.js';
import { SourceConfigService } from './source-config.service.js';
import { RedactionConfigService } from './redaction-config.service.js';
import { LOGGER } from '../platform/tokens.js';
import { SkillLibrary } from '../skills/skill-library.service.js';
import { PolicyConfigService } from './policy-config.service.js';

/** Delay of a retry after Redis did not store the workers' part of a new file. */
const TRY_AGAIN_MS = 2_000;
/** Delay after a change: editors and orchestrators write in several steps, of which the last one counts. */
const SETTLE_MS = 100;

/**
 * Reloads the config file when it changes or on SIGHUP: policy, agents, limits, keys, hooks, safety, sources, skills. Two
 * phases: prepare everything, including the workers' part in Redis, then switch all of it at once. A failure rejects the whole
 * file, with a log message and a `warning`, and the active settings stay; a failed write to Redis is retried. Of overlapping
 * reloads the newest counts. Calls evaluated earlier are not evaluated again.
 */
@Injectable()
export class ConfigReload implements OnApplicationBootstrap, OnApplicationShutdown {
  private watcher: FSWatcher | undefined;
  private timer: NodeJS.Timeout | undefined;
  private retry: NodeJS.Timeout | undefined;
  private text: string | undefined;
  private rejection: string | undefined;
  private newest = 0;
  private active: Active;
  private readonly onSignal = () => void this.reload();

  constructor(
    private readonly policies: PolicyConfigService,
    private readonly limits: LimitConfigService,
    private readonly authenticator: Authenticator,
    private readonly hooks: HookConfigService,
    private readonly redaction: RedactionConfigService,
    private readonly sources: SourceConfigService,
    private readonly skills: SkillLibrary,
    private readonly webhooks: WebhookConfigService,
    @Inject(AdminActs) private readonly acts: Pick<AdminActs, 'recordOwn'>,
    @Inject(GATEWAY_CONFIG) private readonly config: GatewayConfig,
    @Inject(LOGGER) private readonly log: Logger,
  ) {
    this.active = { config };
  }

  /** Reason why the current file is not active, without its contents; undefined if it is active. */
  get warning(): string | undefined {
    return this.rejection;
  }

  /** SHA-256 of the active file. */
  get sha256(): string {
    return digestOf(this.active);
  }

  onApplicationBootstrap(): void {
    const { file } = this.config;
    if (file === undefined) return;
    this.text = textOf(file.path);
    this.active = { config: this.config, text: this.text };
    process.on('SIGHUP', this.onSignal);
    try {
      // Watches the folder, since a replaced file is another one.
      this.watcher = watch(dirname(file.path), { persistent: false }, () => this.scheduleReload());
      this.watcher.on('error', (error) => this.log.warn({ err: error }, 'the config file is not watched any more; SIGHUP reloads it'));
    } catch (error) {
      this.log.warn({ err: error }, 'the config file cannot be watched; SIGHUP reloads it');
    }
  }

  onApplicationShutdown(): void {
    process.off('SIGHUP', this.onSignal);
    clearTimeout(this.timer);
    clearTimeout(this.retry);
    this.newest = Infinity; // Discards a reload in progress.
    this.watcher?.close();
  }

  /** Reads the file now. On return it is active or rejected, unless a newer reload has begun. Never rejects. */
  async reload(): Promise<void> {
    const { file } = this.config;
    if (file === undefined) return;
    const generation = ++this.newest;
    clearTimeout(this.retry);
    this.text = textOf(file.path);
    try {
      const fresh = file.read();
      const { policies, limits, hooks, sources, skills, webhooks } = this;
      const prepared = [policies, limits, hooks, sources, skills, webhooks].map((part) => part.prepare(fresh));
      await this.store(fresh, prepared);
      if (generation !== this.newest) return;
      this.authenticator.replace(fresh.keys, fresh.jwt, fresh.login);
      for (const takeOver of prepared) takeOver();
      this.rejection = undefined;
      this.log.info({ path: file.path }, 'the config file was reloaded');
      await this.record(file.path, { config: fresh, text: this.text });
    } catch (error) {
      if (generation !== this.newest) return;
      this.reject(file.path, error);
    }
    telemetry.configRead.emit({ ok: this.rejection === undefined });
  }

  /** Records an event for each affected tenant, and one for each legal hold. */
  private async record(path: string, now: Active): Promise<void> {
    const before = this.active;
    this.active = now;
    for (const { tenantId, changed, holds } of configChanges(before.config, now.config)) {
      const after = { fileSha256: digestOf(now), changed };
      await this.acts.recordOwn(tenantId, 'admin.config_reloaded', { target: path, before: { fileSha256: digestOf(before) }, after });
      for (const { name = path, setting, holds: isSet } of holds)
        await this.acts.recordOwn(tenantId, isSet ? 'admin.hold_set' : 'admin.hold_lifted', { target: name, after: { [setting]: isSet } });
    }
  }

  private async store(fresh: GatewayConfig, prepared: (() => void)[]): Promise<void> {
    try {
      prepared.push(await this.redaction.prepare(fresh));
    } catch (error) {
      throw new NotStored('Redis did not store the safety settings for the workers', { cause: error });
    }
  }

  private reject(path: string, error: unknown): void {
    const again = error instanceof NotStored;
    const why = again ? 'could not be stored for the workers and is tried again' : 'was refused';
    this.rejection = `The config file has changed and ${why}; the one before stays in force. The log ${again ? 'says why' : 'names line and field'}.`;
    const faults = error instanceof Error ? error.message : String(error);
    this.log.error({ path, faults, ...(again ? { err: error.cause } : {}) }, `the changed config file ${why}`);
    if (again) this.retry = setTimeout(() => void this.reload(), TRY_AGAIN_MS).unref();
  }

  private scheduleReload(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      if (this.config.file !== undefined && textOf(this.config.file.path) !== this.text) void this.reload();
    }, SETTLE_MS).unref();
  }
}

/** Active configuration. */
interface Active {
  readonly config: GatewayConfig;
  readonly text?: string | undefined;
}

function digestOf({ text = '' }: Active): string {
  return sha256Hex(text);
}

/** Error for a valid file that was not stored: a retry may succeed. */
class NotStored extends Error {}

/** Text of the file; undefined while it cannot be read, as during its replacement. */
function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
