import type { EgressRules } from '#contracts';
import { urlsInCommand } from '../shell/urls-in-command.js';
import { privateHostReason } from '../risk-arguments/host-kind.js';
import type { RuleResult, Rule } from '../rule.js';

/**
 * Second axis: the hosts that a call names. Only http and https without a user name; no private, loopback or metadata host;
 * blocked domains beat allowed ones, with all their subdomains. URLs in commands meet the domain lists only, since whether a
 * command may reach the network at all is the sandbox's business. Names are not looked up here.
 */
export const egressRule: Rule = ({ policy }, { urls, commands }) => {
  const words = commands.flatMap(urlsInCommand);
  const refused = [...urls.map((url) => egressFault(url, policy.egress)), ...words.map((url) => wordFault(url, policy.egress))].find(
    (it) => it !== undefined,
  );
  if (refused !== undefined) return [deny(refused)];
  return urls.length + words.length === 0
    ? []
    : [{ axis: 'risk', rule: 'egress', effect: 'allow', reason: 'the egress policy allows the hosts' }];
};

function deny(reason: string): RuleResult {
  return { axis: 'risk', rule: 'egress', effect: 'deny', reason };
}

/** Reason why a call under these rules may not request the URL, by its text; undefined if allowed, or for an invalid URL. */
export function egressFault(text: string, rules: EgressRules): string | undefined {
  if (!URL.canParse(text)) return undefined; // The tool says what is wrong with it.
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    return `Blocked: only http and https URLs are allowed, not ${url.protocol.slice(0, -1)}`;
  if (url.username !== '' || url.password !== '') return 'Blocked: the URL must not contain a user name or password';
  const host = hostOf(url);
  const isPrivate = privateHostReason(host);
  if (isPrivate !== undefined && !namesHost(rules.privateHosts, host, url.port)) return `Blocked: ${host} is ${isPrivate}`;
  return domainFault(url, rules);
}

function wordFault(text: string, rules: EgressRules): string | undefined {
  return URL.canParse(text) ? domainFault(new URL(text), rules) : undefined;
}

function domainFault(url: URL, { mode, allowedDomains, blockedDomains, privateHosts }: EgressRules): string | undefined {
  const host = hostOf(url);
  const blocked = blockedDomains.find((domain) => isUnder(host, domain));
  if (blocked !== undefined) return `Blocked: ${host} is in the blocked domain ${blocked}`;
  if (mode === 'none') return `Blocked: this policy allows no egress, also not to ${host}`;
  if (namesHost(privateHosts, host, url.port)) return undefined;
  const wildcard = mode === 'default' && allowedDomains.includes('*');
  if (wildcard || allowedDomains.some((domain) => domain !== '*' && isUnder(host, domain))) return undefined;
  const allowed = allowedDomains.filter((domain) => domain !== '*').join(', ') || 'none';
  return mode === 'strict'
    ? `strict web egress policy blocked destination ${host} (allowed: ${allowed})`
    : `Blocked: ${host} is in no allowed domain (${allowed})`;
}

function hostOf({ hostname }: URL): string {
  return hostname.toLowerCase().replace(/\.$/, '');
}

function isUnder(host: string, domain: string): boolean {
  const base = domain
    .toLowerCase()
    .replace(/^\*?\./, '')
    .replace(/\.$/, '');
  return base === '*' || host === base || host.endsWith(`.${base}`);
}

/** True if the rules list this host, which need not be public. */
export function namesHost(hosts: readonly string[], host: string, port: string): boolean {
  return hosts.some((it) => it.toLowerCase() === host || it.toLowerCase() === `${host}:${port}`);
}
