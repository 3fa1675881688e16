import type { StoredSource } from '#contracts';
import { globMatches } from '#patterns';
import { EgressPolicy } from '#sandbox';

export interface SourceHosts {
  readonly origin: StoredSource['origin'];
  /** The addresses that the definition names. */
  readonly urls: readonly string[];
  /** Hosts of the definition: the only ones besides. */
  readonly egress?: readonly string[] | undefined;
}

/**
 * Allowed hosts of a source: the worker's, limited by `egress` of the definition. Hosts in the config file may be private,
 * since the operator wrote it.
 * @throws EgressError if an address of the definition is not allowed
 */
export function sourcePolicy(worker: EgressPolicy, { origin, urls, egress }: SourceHosts): EgressPolicy {
  const named = urls.map((url) => new URL(url).host);
  const allowed = origin === 'config' ? new EgressPolicy([...worker.allowHosts, ...named]) : worker;
  const policy = egress === undefined ? allowed : allowed.limitedTo(limitsOf(new Set(named), egress));
  for (const url of urls) policy.check(url);
  return policy;
}

function limitsOf(named: ReadonlySet<string>, egress: readonly string[]) {
  const globs = egress.map((host) => host.toLowerCase());
  return {
    refusalOf: ({ host }: URL) =>
      named.has(host) || globs.some((glob) => globMatches(glob, host))
        ? undefined
        : `Blocked: ${host} is not among the hosts of \`egress\` of this source`,
    // Only what the worker allows is asked for.
    allowsPrivate: () => true,
  };
}
