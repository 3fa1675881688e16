import { EgressPolicy } from './egress-policy.js';

const HOST = /^(?:\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/i;

/** The policy that `EGRESS_ALLOW_HOSTS` describes: hosts tools may reach though they are not public, as `host` or `host:port`, separated by commas. */
export function egressPolicyFrom(env: Readonly<Record<string, string | undefined>>): EgressPolicy {
  const hosts = (env['EGRESS_ALLOW_HOSTS'] ?? '')
    .split(',')
    .map((host) => host.trim())
    .filter((host) => host !== '');
  const wrong = hosts.filter((host) => !HOST.test(host));
  if (wrong.length > 0)
    throw new Error(
      `EGRESS_ALLOW_HOSTS: expected host or host:port, separated by commas, got ${wrong.map((host) => `"${host}"`).join(', ')}`,
    );
  return new EgressPolicy(hosts);
}
