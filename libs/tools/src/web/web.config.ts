import { z } from 'zod';

const HOST = /^(?:\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/;

/** Secrets for headers of `http_request`: the variable, the allowed hosts, and the allowed callers. */
const HttpSecrets = z.record(
  z.string().regex(/^[A-Z][A-Z0-9_]{0,63}$/),
  z.strictObject({
    hosts: z.array(z.string().regex(HOST)).min(1),
    tenants: z.array(z.string().min(1)).min(1),
  }),
);

/** The variables that this module reads; an app spreads them into its own schema. */
export const WEB_ENV = {
  HTTP_SECRETS: z
    .string()
    .optional()
    .describe(
      'Secrets that `http_request` may send, as JSON: variable to hosts and tenants, such as `{"GITHUB_TOKEN":{"hosts":["api.github.com"],"tenants":["default"]}}`.',
    ),
  SEARXNG_URLS: z
    .string()
    .optional()
    .describe('SearXNG servers for `web_search`, separated by commas: the next one is asked when one fails.'),
  BRAVE_API_KEY: z.string().optional().describe('Key of Brave Search for `web_search`.'),
  BRAVE_URL: z.url().optional().describe('Address of Brave Search. Not set: `https://api.search.brave.com`.'),
  TAVILY_API_KEY: z.string().optional().describe('Key of Tavily for `web_search`.'),
  TAVILY_URL: z.url().optional().describe('Address of Tavily. Not set: `https://api.tavily.com`.'),
};

type Env = Readonly<Record<string, string | undefined>>;

/** The secrets that calls may send by their names. */
export class HttpSecretStore {
  constructor(
    private readonly secrets: z.output<typeof HttpSecrets>,
    private readonly env: Env,
  ) {}

  /** Undefined where the tenant has no such secret for this host, or the variable is not set. `host` with its port where it has one. */
  valueOf(name: string, host: string, tenantId: string): string | undefined {
    const secret = Object.hasOwn(this.secrets, name) ? this.secrets[name] : undefined;
    if (secret === undefined || !secret.tenants.includes(tenantId) || !secret.hosts.includes(host)) return undefined;
    const value = this.env[name];
    return value === '' ? undefined : value;
  }
}

/** @throws Error about an invalid `HTTP_SECRETS` */
export function httpSecretsFrom(env: Env): HttpSecretStore {
  const text = env['HTTP_SECRETS'];
  if (text === undefined || text === '') return new HttpSecretStore({}, env);
  const parsed = HttpSecrets.safeParse(jsonOf(text));
  if (parsed.success) return new HttpSecretStore(parsed.data, env);
  throw new Error(
    `HTTP_SECRETS: expected JSON such as {"NAME":{"hosts":["api.example.com"],"tenants":["default"]}}; ${z.prettifyError(parsed.error)}`,
  );
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
