import { SafetySettings } from '#contracts';
import { DigestCache, type ContentAddressedStore } from '#redis';
import { ContentSanitizer, SyscallAnomalyDetector } from '#redaction';

/** Redaction of all calls that were accepted under the same settings. */
export interface ActiveRedaction {
  readonly safety: ContentSanitizer;
  /** Set if the output of commands is checked for anomalies. */
  readonly anomalies?: SyscallAnomalyDetector;
}

/** Loads a call's safety settings by digest. Default settings need no Redis request. */
export class RedactionSettingsService {
  readonly defaults: ActiveRedaction;
  private readonly cache: DigestCache<ActiveRedaction>;

  /** `secrets`: those of this process. */
  constructor(
    store: Pick<ContentAddressedStore, 'get'>,
    private readonly secrets: readonly string[],
  ) {
    this.cache = new DigestCache(
      (digest) => store.get(digest),
      (json) => this.build(SafetySettings.parse(json)),
    );
    this.defaults = this.build(SafetySettings.parse({}));
  }

  /** Rejects while Redis is unreachable, and for missing settings, since a call may not run under others. */
  async of(digest: string): Promise<ActiveRedaction> {
    const settings = await this.cache.get(digest);
    if (settings === undefined) throw new Error(`The safety settings ${digest} are not stored any more.`);
    return settings;
  }

  private build(settings: SafetySettings): ActiveRedaction {
    const safety = ContentSanitizer.of(settings, { values: this.secrets });
    return { safety, ...(settings.anomaly.enabled ? { anomalies: new SyscallAnomalyDetector(settings.anomaly) } : {}) };
  }
}
