import { EgressRules } from '#contracts';
import { egressFault, namesHost } from '#policy';
import { DigestCache, type ContentAddressedStore } from '#redis';
import { type EgressLimits, ToolError } from '#tool-sdk';

/** Loads the egress rules under which a call was accepted, by which its tool checks each hop. */
export class EgressScope {
  private readonly cache: DigestCache<EgressLimits>;

  constructor(store: Pick<ContentAddressedStore, 'get'>) {
    this.cache = new DigestCache(
      (digest) => store.get(digest),
      (json) => limitsOf(EgressRules.parse(json)),
    );
  }

  /** Rejects if the rules are no longer stored. */
  async of(digest: string): Promise<EgressLimits> {
    const limits = await this.cache.get(digest);
    if (limits === undefined)
      throw new ToolError('internal', 'The egress rules of the call are not stored any more. Submit the call again.', { retryable: false });
    return limits;
  }
}

function limitsOf(rules: EgressRules): EgressLimits {
  return {
    refusalOf: ({ href }) => egressFault(href, rules),
    allowsPrivate: (hostname, port) => namesHost(rules.privateHosts, hostname, port),
  };
}
