import { z } from 'zod';
import { dialectTool, definedFields } from './dialect.js';
import { FetchFacts, WebSearchFacts } from './facts.js';
import { json } from './kiro-texts.js';

const PAGE_CHARACTERS = 8_000;

const PAGE_BYTES = 10 * 1_048_576;

const webFetch = dialectTool({
  name: 'web_fetch',
  aliases: ['webFetch'],
  tool: 'web_fetch',
  description: 'Fetch a web page as text: around search terms (selective), its first 8,000 characters (truncated), or whole (full).',
  input: z.strictObject({
    url: z.string().min(1).max(8_192).describe('http or https URL.'),
    mode: z.enum(['selective', 'truncated', 'full']).default('selective').describe('How much of the page is shown.'),
    search_terms: z.string().min(1).max(500).optional().describe('For selective: words to look for.'),
  }),
  adapt: ({ url, mode, search_terms }) => {
    const max_chars = mode === 'full' ? 1_000_000 : PAGE_CHARACTERS;
    return {
      tool: 'web_fetch',
      args: definedFields({
        url,
        output_format: 'text',
        max_chars,
        max_bytes: PAGE_BYTES,
        search_terms: mode === 'selective' ? search_terms : undefined,
      }),
      hints: { mode },
    };
  },
  result: ({ facts, hints }) => {
    const { mode, contentType, body, truncated } = FetchFacts.parse(facts);
    if (mode === 'metadata_only') return { content: `Unsupported content type: ${contentType}`, isError: true };
    return truncated && hints['mode'] === 'truncated'
      ? `${body}\n\n[Content truncated - showing first ${PAGE_CHARACTERS} characters]`
      : body;
  },
});

const webSearch = dialectTool({
  name: 'web_search',
  aliases: ['webSearch'],
  tool: 'web_search',
  description: 'Search the web.',
  input: z.strictObject({ query: z.string().min(1).max(10_000).describe('What to search for; the first 200 characters count.') }),
  adapt: ({ query }) => ({ tool: 'web_search', args: { query: query.slice(0, 200) } }),
  result: ({ facts }) => {
    const { results } = WebSearchFacts.parse(facts);
    return json({ results });
  },
});

export const KIRO_WEB = [webFetch, webSearch];
