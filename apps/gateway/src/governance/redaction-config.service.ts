import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import type { Logger } from 'pino';
import { SafetySettings, type JsonValue } from '#contracts';
import { ContentAddressedStore, type RedisConnection } from '#redis';
import { maskSecrets, ContentSanitizer, type MaskedValue, type Redactor } from '#redaction';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/gateway.config.js';
import { LOGGER, FAIL_FAST_REDIS } from '../platform/tokens.js';

const DEFAULTS = SafetySettings.parse({});
/** Well within the life of stored settings. */
const STORE_AGAIN_MS = 24 * 3_600_000;

export type SafetyConfig = Pick<GatewayConfig, 'safety' | 'secrets'>;

/** The active redaction settings, and the digest by which workers find them. */
@Injectable()
export class RedactionConfigService implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly store: ContentAddressedStore;
  private safety: ContentSanitizer;
  private stored: string | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    @Inject(GATEWAY_CONFIG) config: SafetyConfig,
    @Inject(FAIL_FAST_REDIS) redis: RedisConnection,
    @Inject(LOGGER) private readonly log: Logger,
  ) {
    this.store = new ContentAddressedStore(redis);
    this.safety = createSafety(config);
  }

  /** Rejects when the settings cannot be stored: then no worker could read them. */
  async onApplicationBootstrap(): Promise<void> {
    this.stored = await this.storedFor(this.safety);
    this.timer = setInterval(() => void this.renewStored(), STORE_AGAIN_MS).unref();
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  /**
   * Prepares new settings and stores them for the workers. Calling the returned function activates them; it never throws.
   * Rejects when they cannot be stored: then the settings before stay active.
   */
  async prepare(config: SafetyConfig): Promise<() => void> {
    const safety = createSafety(config);
    const stored = await this.storedFor(safety);
    return () => {
      this.safety = safety;
      this.stored = stored;
    };
  }

  get redactor(): Redactor {
    return this.safety.redactor;
  }

  /** The digest by which workers find the active settings; undefined for the defaults, which they have. */
  get settingsDigest(): string | undefined {
    return this.stored;
  }

  /** Redacts texts about a call, including the secrets of its arguments. `cut`: the text is the beginning of a longer one. */
  redactorFor(args: JsonValue): (text: string, cut?: boolean) => string {
    const safety = this.safety.withSecrets(this.safety.redactor.json(args).secrets);
    return (text, cut = false) => (cut ? safety.truncatedText(text) : safety.text(text));
  }

  /** The arguments with placeholders, for hooks that may not see secrets, and how to restore what they return. */
  masked(args: JsonValue): MaskedValue {
    return maskSecrets(this.safety.redactor, args);
  }

  holdsSecrets(value: object): boolean {
    return this.safety.findSecrets(value).length > 0;
  }

  /** Redacts a name that the caller chose, such as its Idempotency-Key. */
  identifier(name: string): string {
    return this.safety.redactor.identifier(name);
  }

  /** Settings as administrative acts show them. */
  withoutSecrets(settings: object): JsonValue {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it was JSON text a moment ago
    return this.safety.redactor.json(JSON.parse(JSON.stringify(settings)) as JsonValue).value;
  }

  /** Redacts what a person writes about a call. */
  text(text: string): string {
    return this.safety.text(text);
  }

  /** The digest by which workers find the settings; undefined for the defaults, which they have. */
  private async storedFor({ settings }: ContentSanitizer): Promise<string | undefined> {
    const text = JSON.stringify(settings);
    return text === JSON.stringify(DEFAULTS) ? undefined : this.store.put(text);
  }

  /** Stores the active settings again, so that Redis keeps them. */
  private async renewStored(): Promise<void> {
    try {
      await this.storedFor(this.safety);
    } catch (error) {
      this.log.error({ err: error }, 'the safety settings could not be stored again for the workers; the next try is in a day');
    }
  }
}

function createSafety({ safety = DEFAULTS, secrets = [] }: SafetyConfig): ContentSanitizer {
  return ContentSanitizer.of(safety, { values: secrets });
}
