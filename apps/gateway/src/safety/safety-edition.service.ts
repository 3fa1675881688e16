import { randomBytes } from 'node:crypto';
import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import type { Logger } from 'pino';
import { SafetySettings, type SubmitCallBody } from '#contracts';
import { SettingsStore, type RedisConnection } from '#redis';
import { masked, Safety, type Masked } from '#safety';
import type { JsonValue, JudgedCall, NewCallInput } from '../calls/new-call.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../gateway.config.js';
import { LOGGER, PROMPT_REDIS } from '../tokens.js';
import { shownCall, type ShownCall } from './shown-call.js';

const DEFAULTS = SafetySettings.parse({});
/** Well within the life of stored settings. */
const STORE_AGAIN_MS = 24 * 3_600_000;

/** The safety settings in force here, and the digest by which workers find them. */
@Injectable()
export class SafetyEdition implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly store: SettingsStore;
  private safety: Safety;
  private stored: string | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    @Inject(GATEWAY_CONFIG) private readonly config: GatewayConfig,
    @Inject(PROMPT_REDIS) redis: RedisConnection,
    @Inject(LOGGER) private readonly log: Logger,
  ) {
    this.store = new SettingsStore(redis);
    this.safety = this.made(config.safety ?? DEFAULTS);
  }

  /** Rejects when the settings cannot be stored: then no worker could read them. */
  async onApplicationBootstrap(): Promise<void> {
    await this.take(this.safety);
    this.timer = setInterval(() => void this.take(this.safety).catch((error: unknown) => this.notStored(error)), STORE_AGAIN_MS).unref();
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  /** In force as soon as workers can read them; what was in force stays when they cannot be stored. */
  replace(settings: SafetySettings = DEFAULTS): void {
    void this.take(this.made(settings)).catch((error: unknown) => this.notStored(error));
  }

  /** The call as it may be stored and shown, and what its worker needs besides. */
  show(body: SubmitCallBody, judged: JudgedCall): Omit<ShownCall, 'secretArguments'> & Pick<NewCallInput, 'secret' | 'safety'> {
    const shown = shownCall(this.safety.redactor, body, judged);
    const { secretArguments } = shown;
    const secret = secretArguments === undefined ? undefined : { salt: randomBytes(16).toString('hex'), arguments: secretArguments };
    return { body: shown.body, judged: shown.judged, secret, safety: this.stored };
  }

  /** For what others say about a call: the secrets of its arguments go, too. `cut`: the text is the beginning of a longer one. */
  about(args: JsonValue): (text: string, cut?: boolean) => string {
    const safety = this.safety.knowing(this.safety.redactor.json(args).secrets);
    return (text, cut = false) => (cut ? safety.cutOff(text) : safety.text(text));
  }

  /** The arguments as hooks see them that may not see secrets, and what their answer means. */
  masked(args: JsonValue): Masked {
    return masked(this.safety.redactor, args);
  }

  holdsSecrets(value: object): boolean {
    return this.safety.secretsIn(value).length > 0;
  }

  /** A name that a caller made up, such as its Idempotency-Key. */
  identifier(name: string): string {
    return this.safety.redactor.identifier(name);
  }

  /** What a person says about a call. */
  text(text: string): string {
    return this.safety.text(text);
  }

  private made(settings: SafetySettings): Safety {
    return Safety.of(settings, { values: this.config.secrets ?? [] });
  }

  private async take(safety: Safety): Promise<void> {
    const text = JSON.stringify(safety.settings);
    const stored = text === JSON.stringify(DEFAULTS) ? undefined : await this.store.put(text);
    this.safety = safety;
    this.stored = stored;
  }

  private notStored(error: unknown): void {
    this.log.error({ err: error }, 'the safety settings could not be stored for the workers; those before stay in force');
  }
}
