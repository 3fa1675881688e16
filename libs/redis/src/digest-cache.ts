import { LRUCache } from 'lru-cache';

/** Values of stored JSON texts, by digest: the values used last stay in memory. */
export class DigestCache<T extends object> {
  private readonly values: LRUCache<string, T>;

  constructor(
    private readonly read: (digest: string) => Promise<string | null | undefined>,
    private readonly parse: (json: unknown) => T,
    max = 256,
  ) {
    this.values = new LRUCache({ max });
  }

  /** Undefined if no text is stored under the digest. Rejects while Redis is unreachable. */
  async get(digest: string): Promise<T | undefined> {
    const cached = this.values.get(digest);
    if (cached !== undefined) return cached;
    const text = (await this.read(digest)) ?? undefined;
    if (text === undefined) return undefined;
    const value = this.parse(JSON.parse(text));
    this.values.set(digest, value);
    return value;
  }
}
