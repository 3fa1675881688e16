import type { StoredSource } from '#contracts';
import { EgressPolicy } from '#sandbox';

/** Where requests of a source may go: the operator who wrote the config file named these addresses. */
export function policyFor({ origin }: StoredSource, urls: readonly string[], egress: EgressPolicy): EgressPolicy {
  return origin === 'config' ? new EgressPolicy([...egress.allowHosts, ...urls.map((it) => new URL(it).host)]) : egress;
}
