import { LRUCache } from 'lru-cache';
import { SafetySettings } from '#contracts';
import type { ContentAddressedStore } from '#redis';
import { ContentSanitizer, SyscallAnomalyDetector } from '#redaction';

/** A tenant may have settings of its own. */
const CACHE_SIZE = 256;

/** What holds for calls that were accepted under the same settings. */
export interface ActiveRedaction {
  readonly safety: ContentSanitizer;
  /** Set where the output of commands is checked for anomalies. */
  readonly anomalies?: SyscallAnomalyDetector;
}

/**
 * The safety settings of calls, by the digest that a call carries; those of most calls are the defaults, and cost no
 * question.
 */
export class RedactionSettingsService {
  readonly defaults: ActiveRedaction;
  private readonly cache = new LRUCache<string, ActiveRedaction>({ max: CACHE_SIZE });

  /** `secrets` are those of this process. */
  constructor(
    private readonly store: Pick<ContentAddressedStore, 'get'>,
    private readonly secrets: readonly string[],
  ) {
    this.defaults = this.build(SafetySettings.parse({}));
  }

  /** Rejects while Redis is out of reach, and when the settings are not stored: then nothing may run under others. */
  async of(digest: string): Promise<ActiveRedaction> {
    const before = this.cache.get(digest);
    if (before !== undefined) return before;
    const text = await this.store.get(digest);
    if (text === undefined) throw new Error(`The safety settings ${digest} are not stored any more.`);
    const made = this.build(SafetySettings.parse(JSON.parse(text)));
    this.cache.set(digest, made);
    return made;
  }

  private build(settings: SafetySettings): ActiveRedaction {
    const safety = ContentSanitizer.of(settings, { values: this.secrets });
    return { safety, ...(settings.anomaly.enabled ? { anomalies: new SyscallAnomalyDetector(settings.anomaly) } : {}) };
  }
}
