import { z } from 'zod';
import { EgressPolicy } from './egress-policy.js';
import { TraceHosts } from './trace-hosts.js';

const HOST = /^(?:\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/i;

/** The variables that this module reads; an app spreads them into its own schema. */
export const EGRESS_ENV = {
  EGRESS_ALLOW_HOSTS: z
    .string()
    .optional()
    .describe('Hosts that tools, session hooks and webhooks of tenants may reach though not public: `host` or `host:port`.'),
};
export const TRACE_HOSTS_ENV = {
  TRACE_HOSTS: z.string().optional().describe('Hosts that receive the trace context in requests of tools: `host` or `host:port`.'),
};

type Env = Readonly<Record<string, string | undefined>>;

/**
 * The policy that `EGRESS_ALLOW_HOSTS` describes: hosts tools may reach though they are not public, as `host` or `host:port`,
 * separated by commas.
 */
export function egressPolicyFrom(env: Env): EgressPolicy {
  return new EgressPolicy(hostsOf('EGRESS_ALLOW_HOSTS', env['EGRESS_ALLOW_HOSTS']));
}

/** The hosts of `TRACE_HOSTS`, in the same form. Requests of tools carry the call's trace to these hosts only. */
export function traceHostsFrom(env: Env): TraceHosts {
  return new TraceHosts(hostsOf('TRACE_HOSTS', env['TRACE_HOSTS']));
}

function hostsOf(name: string, text = ''): string[] {
  const hosts = text
    .split(',')
    .map((host) => host.trim().toLowerCase())
    .filter((host) => host !== '');
  const wrong = hosts.filter((host) => !HOST.test(host));
  if (wrong.length > 0)
    throw new Error(`${name}: expected host or host:port, separated by commas, got ${wrong.map((host) => `"${host}"`).join(', ')}`);
  return hosts;
}
