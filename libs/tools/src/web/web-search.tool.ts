import { Inject, Optional } from '@nestjs/common';
import { z } from 'zod';
import { EgressPolicy, SafeFetch, egressPolicyFrom } from '#sandbox';
import { Tool, type ToolContext, ToolError, type ToolOutputObject } from '#tool-sdk';
import { searchProvidersFrom } from './search-providers/providers.js';
import type { SearchHit, SearchProvider, SearchQuery } from './search-providers/search-provider.port.js';

const QUERY_CHARACTERS = 200;
const SNIPPET_CHARACTERS = 2_000;
const MOST_BYTES = 2_000_000;
/** Time limit of one engine, which leaves time for the next one. */
const PROVIDER_MS = 8_000;
const NOT_CONFIGURED =
  'Web search is not configured. Ask the operator to set SEARXNG_URLS, BRAVE_API_KEY or TAVILY_API_KEY for the workers.';

const domains = z.array(z.string().min(1).max(255)).max(50).optional();
const input = z.strictObject({
  query: z.string().min(1).max(10_000).describe('What to search for; the first 200 characters count.'),
  count: z.number().int().min(1).max(20).default(5).describe('How many results to show at most.'),
  freshness: z.enum(['day', 'week', 'month', 'year']).optional().describe('Only pages of the last day, week, month or year.'),
  allowed_domains: domains.describe('Only results of these domains and their subdomains.'),
  blocked_domains: domains.describe('No results of these domains and their subdomains.'),
});
type Input = z.output<typeof input>;

export const SEARCH_PROVIDERS = Symbol('SEARCH_PROVIDERS');

@Tool({
  name: 'web_search',
  label: 'Search the web',
  description:
    'Searches the web and answers titles, addresses and snippets, best first. Read a page with web_fetch. The search engines of the operator are asked in turn until one answers. ' +
    'No result: "No web search results matched the query". Without a search engine the tool says that it is not configured.',
  input,
  tier: 'side_effecting',
  effect: 'idempotent',
  pool: 'net',
  timeoutMs: 30_000,
  aliases: ['WebSearch', 'webSearch'],
  argumentAliases: { query: ['q'], count: ['max_results', 'num_results'] },
  rawArgument: 'query',
  examples: [{ title: 'Pages of the last month', arguments: { query: 'ripgrep release notes', count: 3, freshness: 'month' } }],
})
export class WebSearchTool {
  private readonly fetcher: SafeFetch;

  constructor(
    @Optional() policy: EgressPolicy = egressPolicyFrom(process.env),
    @Optional() @Inject(SEARCH_PROVIDERS) private readonly providers: readonly SearchProvider[] = searchProvidersFrom(process.env),
  ) {
    this.fetcher = new SafeFetch(policy);
  }

  async run(args: Input, ctx: ToolContext): Promise<ToolOutputObject> {
    if (this.providers.length === 0) throw new ToolError('unavailable', NOT_CONFIGURED, { retryable: false });
    const query = args.query.slice(0, QUERY_CHARACTERS);
    const failures: string[] = [];
    for (const provider of this.providers) {
      const found = await this.ask(provider, { query, count: args.count, freshness: args.freshness }, ctx.signal);
      if (typeof found !== 'string')
        return render(provider, query, found.filter(({ url }) => isWanted(url, args)).slice(0, args.count), ctx);
      failures.push(`${provider.name}: ${found}`);
    }
    throw new ToolError('tool_failed', `No search engine answered. ${failures.join('; ')}`, { retryable: true });
  }

  /** Called by Nest when the process ends. */
  async onApplicationShutdown(): Promise<void> {
    await this.fetcher.close();
  }

  /** Hits, or the reason why there are none. The engine's address may be confidential and is not included. */
  private async ask(provider: SearchProvider, query: SearchQuery, signal: AbortSignal): Promise<readonly SearchHit[] | string> {
    const { url, ...request } = provider.request(query);
    try {
      const answer = await this.fetcher.send(url, {
        ...request,
        signal: AbortSignal.any([signal, AbortSignal.timeout(PROVIDER_MS)]),
        maxBytes: MOST_BYTES,
        label: provider.name,
      });
      if (answer.status !== 200) return `status ${answer.status}`;
      return provider.hits(jsonOf(answer.body.toString('utf8'))) ?? 'its answer has another form';
    } catch {
      signal.throwIfAborted();
      return 'it could not be reached';
    }
  }
}

function render({ name, baseUrl }: SearchProvider, query: string, hits: readonly SearchHit[], context: ToolContext): ToolOutputObject {
  const redact = (text: string) => context.redact(text);
  const results = hits.map(({ title, url, snippet }, index) => ({ index: index + 1, title, url, snippet: cut(snippet, redact) }));
  const text = results.map((it) => `${it.index}. ${it.title}\n   ${it.url}\n   ${it.snippet.replaceAll(/\s+/g, ' ')}`).join('\n');
  return {
    content: [{ type: 'text', text: text === '' ? `No web search results matched the query "${query}".` : text }],
    details: { query, provider: name, baseUrl, resultCount: results.length, results },
  };
}

function cut(snippet: string, redact: ToolContext['redact']): string {
  return snippet.length <= SNIPPET_CHARACTERS ? snippet : redact(snippet.slice(0, SNIPPET_CHARACTERS), true);
}

function isWanted(url: string, { allowed_domains, blocked_domains = [] }: Input): boolean {
  if (!URL.canParse(url) || !/^https?:/.test(url)) return false;
  const { hostname } = new URL(url);
  const isIn = (domain: string): boolean => hostname === domain.toLowerCase() || hostname.endsWith(`.${domain.toLowerCase()}`);
  return !blocked_domains.some(isIn) && (allowed_domains === undefined || allowed_domains.some(isIn));
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
