import { LRUCache } from 'lru-cache';
import { SafetySettings } from '#contracts';
import type { ContentAddressedStore } from '#redis';
import { ContentSanitizer, SyscallAnomalyDetector } from '#redaction';

/** Settings in memory; each tenant may have its own. */
const CACHE_SIZE = 256;

/** Redaction of all calls that were accepted under the same settings. */
export interface ActiveRedaction {
  readonly safety: ContentSanitizer;
  /** Set if the output of commands is checked for anomalies. */
  readonly anomalies?: SyscallAnomalyDetector;
}

/** Loads a call's safety settings by digest. Default settings need no Redis request. */
export class RedactionSettingsService {
  readonly defaults: ActiveRedaction;
  private readonly cache = new LRUCache<string, ActiveRedaction>({ max: CACHE_SIZE });

  /** `secrets`: those of this process. */
  constructor(
    private readonly store: Pick<ContentAddressedStore, 'get'>,
    private readonly secrets: readonly string[],
  ) {
    this.defaults = this.build(SafetySettings.parse({}));
  }

  /** Rejects while Redis is unreachable, and for missing settings, since a call may not run under others. */
  async of(digest: string): Promise<ActiveRedaction> {
    const before = this.cache.get(digest);
    if (before !== undefined) return before;
    const text = await this.store.get(digest);
    if (text === undefined) throw new Error(`The safety settings ${digest} are not stored any more.`);
    const settings = this.build(SafetySettings.parse(JSON.parse(text)));
    this.cache.set(digest, settings);
    return settings;
  }

  private build(settings: SafetySettings): ActiveRedaction {
    const safety = ContentSanitizer.of(settings, { values: this.secrets });
    return { safety, ...(settings.anomaly.enabled ? { anomalies: new SyscallAnomalyDetector(settings.anomaly) } : {}) };
  }
}
