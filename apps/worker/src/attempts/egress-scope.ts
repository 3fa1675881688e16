import { LRUCache } from 'lru-cache';
import { EgressRules } from '#contracts';
import { egressFault, namesHost } from '#policy';
import type { ContentAddressedStore } from '#redis';
import { type EgressLimits, ToolError } from '#tool-sdk';

/** Loads the egress rules under which a call was accepted, by which its tool checks each hop. */
export class EgressScope {
  private readonly cache = new LRUCache<string, EgressLimits>({ max: 256 });

  constructor(private readonly store: Pick<ContentAddressedStore, 'get'>) {}

  /** Rejects if the rules are no longer stored. */
  async of(digest: string): Promise<EgressLimits> {
    const before = this.cache.get(digest);
    if (before !== undefined) return before;
    const text = await this.store.get(digest);
    if (text === undefined)
      throw new ToolError('internal', 'The egress rules of the call are not stored any more. Submit the call again.', { retryable: false });
    const rules = EgressRules.parse(JSON.parse(text));
    const limits: EgressLimits = {
      refusalOf: ({ href }) => egressFault(href, rules),
      allowsPrivate: (hostname, port) => namesHost(rules.privateHosts, hostname, port),
    };
    this.cache.set(digest, limits);
    return limits;
  }
}
