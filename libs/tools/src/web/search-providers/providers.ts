import { z } from 'zod';
import type { SearchProvider } from './search-provider.port.js';

type Env = Readonly<Record<string, string | undefined>>;

/** Search engines of the environment, in order of use. @throws Error for an invalid address */
export function searchProvidersFrom(env: Env): readonly SearchProvider[] {
  const brave = env['BRAVE_API_KEY'] ?? '';
  const tavily = env['TAVILY_API_KEY'] ?? '';
  return [
    ...commaList(env['SEARXNG_URLS']).map((url) => searxng(baseOf('SEARXNG_URLS', url))),
    ...(brave === '' ? [] : [braveSearch(baseOf('BRAVE_URL', env['BRAVE_URL'] ?? 'https://api.search.brave.com'), brave)]),
    ...(tavily === '' ? [] : [tavilySearch(baseOf('TAVILY_URL', env['TAVILY_URL'] ?? 'https://api.tavily.com'), tavily)]),
  ];
}

const Text = z
  .string()
  .nullish()
  .transform((text) => text ?? '');
const Hit = (snippet: 'content' | 'description') => z.object({ title: Text, url: z.string(), [snippet]: Text });
const ContentHits = z.object({ results: z.array(Hit('content')) });
const BraveHits = z.object({ web: z.object({ results: z.array(Hit('description')) }).optional() });

function searxng(baseUrl: string): SearchProvider {
  return {
    name: 'searxng',
    baseUrl,
    request: ({ query, freshness }) => ({
      url: `${baseUrl}/search?${new URLSearchParams({ q: query, format: 'json', ...(freshness && { time_range: freshness }) }).toString()}`,
      method: 'GET',
      headers: { accept: 'application/json' },
    }),
    hits: contentHits,
  };
}

const BRAVE_FRESHNESS = { day: 'pd', week: 'pw', month: 'pm', year: 'py' } as const;

function braveSearch(baseUrl: string, key: string): SearchProvider {
  return {
    name: 'brave',
    baseUrl,
    request: ({ query, count, freshness }) => ({
      url: `${baseUrl}/res/v1/web/search?${new URLSearchParams({ q: query, count: String(count), ...(freshness && { freshness: BRAVE_FRESHNESS[freshness] }) }).toString()}`,
      method: 'GET',
      headers: { accept: 'application/json', 'x-subscription-token': key },
    }),
    hits: (answer) => {
      const parsed = BraveHits.safeParse(answer);
      return parsed.success
        ? (parsed.data.web?.results ?? []).map(({ title, url, description }) => hit(title, url, description))
        : undefined;
    },
  };
}

function tavilySearch(baseUrl: string, key: string): SearchProvider {
  return {
    name: 'tavily',
    baseUrl,
    request: ({ query, count, freshness }) => ({
      url: `${baseUrl}/search`,
      method: 'POST',
      headers: { accept: 'application/json', 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ query, max_results: count, ...(freshness && { time_range: freshness }) }),
    }),
    hits: contentHits,
  };
}

function contentHits(answer: unknown): ReturnType<SearchProvider['hits']> {
  const parsed = ContentHits.safeParse(answer);
  return parsed.success ? parsed.data.results.map(({ title, url, content }) => hit(title, url, content)) : undefined;
}

function hit(title: string | undefined, url: string | undefined, snippet: string | undefined) {
  return { title: title ?? '', url: url ?? '', snippet: snippet ?? '' };
}

function commaList(text = ''): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

function baseOf(name: string, url: string): string {
  if (!URL.canParse(url) || !/^https?:/.test(url)) throw new Error(`${name}: expected http or https URLs, got "${url}"`);
  return url.replace(/\/+$/, '');
}
