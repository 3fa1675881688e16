import { Optional } from '@nestjs/common';
import { z } from 'zod';
import { decodeBody, hasSignature, isHtml, isTextLike, isUntyped, isXhtml, looksBinary } from './decode-body.js';
import { EgressPolicy, type FetchedDocument, SafeFetch, TraceHosts, egressPolicyFrom, traceHostsFrom } from '#sandbox';
import { Tool, type ToolContext, ToolError, type ToolOutputObject } from '#tool-sdk';
import { egressFailure } from './egress-failure.js';
import { matchingSegments } from './matching-segments.js';
import { HtmlReader, type ReadPage } from './html-reader.js';

const PREVIEW_CHARS = 512;
const MIB = 1_048_576;

const input = z.strictObject({
  url: z.string().min(1).max(8_192).describe('Absolute http or https URL.'),
  output_format: z
    .enum(['auto', 'markdown', 'text', 'raw', 'metadata_only'])
    .default('auto')
    .describe(
      'auto: HTML as Markdown, other text as it is, binary as metadata only. markdown, text: how HTML is shown. raw: the source. metadata_only: no body.',
    ),
  search_terms: z.string().min(1).max(500).optional().describe('Words: only paragraphs with one of them, and their neighbours, are shown.'),
  max_chars: z.number().int().min(1).max(1_000_000).default(50_000).describe('Most characters of the body to return.'),
  max_bytes: z
    .number()
    .int()
    .min(1)
    .max(10 * MIB)
    .optional()
    .describe('Most bytes of the body to download. Default 5 MiB.'),
});
type Input = z.output<typeof input>;

/** Shown content of a document, besides the facts of the response. */
interface Shown extends ReadPage {
  readonly mode: 'markdown' | 'text' | 'raw' | 'metadata_only';
}

@Tool({
  name: 'web_fetch',
  label: 'Fetch a web page',
  description:
    'Gets a public web page or file by HTTP GET. HTML becomes Markdown; JSON and other text come as they are; of images, archives and other binary files only the metadata. ' +
    'Follows up to 10 redirects and reads at most 5 MiB (max_bytes: up to 10 MiB). Private, loopback and metadata addresses are blocked. search_terms shows only what is around some words. A status other than 2xx is an error with the beginning of the body.',
  input,
  tier: 'side_effecting',
  effect: 'idempotent',
  pool: 'net',
  subjects: [{ kind: 'url', argument: 'url' }],
  timeoutMs: 30_000,
  aliases: ['webFetch', 'WebFetch', 'fetch'],
  argumentAliases: { url: ['uri', 'link', 'href'], max_chars: ['max_body_chars'] },
  rawArgument: 'url',
  examples: [{ title: 'Read a page', arguments: { url: 'https://example.com/' } }],
})
export class WebFetchTool {
  private readonly reader = new HtmlReader();

  constructor(
    @Optional() private readonly policy: EgressPolicy = egressPolicyFrom(process.env),
    @Optional() private readonly traceHosts: TraceHosts = traceHostsFrom(process.env),
  ) {}

  async run(args: Input, ctx: ToolContext): Promise<ToolOutputObject> {
    const document = await this.fetch(args, ctx);
    if (document.status < 200 || document.status > 299) throw httpFailure(document, ctx);
    const shown = withRefresh(await this.show(document, args, ctx.signal), document);
    return render(document, args.search_terms === undefined ? shown : selected(shown, args.search_terms), args, ctx);
  }

  /** Called by Nest when the process ends. */
  async onApplicationShutdown(): Promise<void> {
    await this.reader.close();
  }

  private async fetch(args: Input, { signal, traceparent, egress }: ToolContext): Promise<FetchedDocument> {
    const wantsBody = (type: string) => args.output_format !== 'metadata_only' && (isTextLike(type) || isUntyped(type));
    const fetcher = new SafeFetch(this.policy.limitedTo(egress));
    try {
      const maxBytes = args.max_bytes ?? 5 * MIB;
      return await fetcher.get(args.url, { signal, wantsBody, maxBytes, headers: (url) => this.traceHosts.headers(url, traceparent) });
    } catch (error) {
      throw egressFailure(error);
    } finally {
      await fetcher.close();
    }
  }

  private async show(document: FetchedDocument, args: Input, signal: AbortSignal): Promise<Shown> {
    const { contentType, body, url } = document;
    if (args.output_format === 'metadata_only') return { mode: 'metadata_only', text: '' };
    if (hasSignature(body) || (!isTextLike(contentType) && (!isUntyped(contentType) || looksBinary(body)))) {
      return { mode: 'metadata_only', text: '', note: 'binary content omitted to reduce token usage' };
    }
    const source = decodeBody(body, contentType);
    const isXml = isXhtml(contentType, source);
    const isPage = isXml || isHtml(contentType) || (isUntyped(contentType) && /^\s*<(?:!doctype\s+html|html)\b/i.test(source));
    if (args.output_format === 'raw' || !isPage) return { mode: 'raw', text: source };
    const style = args.output_format === 'text' ? 'text' : 'markdown';
    return { mode: style, ...(await this.reader.read(source, style, { url, isXml }, signal)) };
  }
}

/** The address of the header counts as that of a page: with a number of seconds before it, in quotes or not. */
const REFRESH = /^\s*[\d.]*\s*[;,\s]\s*(?:url\s*=\s*)?(["']?)(.+?)\1\s*$/is;
const MOST_REFRESH = 2_000;

function withRefresh(shown: Shown, { url, refresh }: FetchedDocument): Shown {
  const to = REFRESH.exec(refresh?.slice(0, MOST_REFRESH) ?? '')?.[2];
  const next = to !== undefined && URL.canParse(to, url) ? new URL(to, url) : undefined;
  if (next === undefined || !/^https?:$/.test(next.protocol) || next.href === url) return shown;
  return withNote(shown, `this page leads to ${next.href}`);
}

function selected(shown: Shown, terms: string): Shown {
  if (shown.mode === 'metadata_only') return shown;
  const { text, note } = matchingSegments(shown.text, terms);
  return withNote({ ...shown, text }, note);
}

function withNote(shown: Shown, note: string | undefined): Shown {
  return note === undefined ? shown : { ...shown, note: [shown.note, note].filter((it) => it !== undefined).join('; ') };
}

function httpFailure({ status, statusText, url, body, contentType, ...document }: FetchedDocument, ctx: ToolContext): ToolError {
  const readable = isTextLike(contentType) || (isUntyped(contentType) && !looksBinary(body));
  const answer = readable ? decodeBody(body, contentType) : '';
  const preview = shownPart(answer.slice(0, PREVIEW_CHARS), document.truncated || answer.length > PREVIEW_CHARS, ctx).trim();
  const retryable = status === 429 || status >= 500;
  return new ToolError('tool_failed', `HTTP ${status} ${statusText} from ${url}${preview === '' ? '' : `\n\n${preview}`}`, { retryable });
}

function render(document: FetchedDocument, shown: Shown, args: Input, ctx: ToolContext): ToolOutputObject {
  const kept = cutChars(shown.text, args.max_chars);
  const truncated = document.truncated || kept.length < shown.text.length;
  const body = shownPart(kept, truncated, ctx);
  const facts = {
    url: document.url,
    status: document.status,
    contentType: document.contentType,
    ...(document.contentLength === undefined ? {} : { contentLength: document.contentLength }),
    ...(shown.title === undefined ? {} : { title: shown.title }),
    mode: shown.mode,
    truncated,
    ...(shown.note === undefined ? {} : { note: shown.note }),
  };
  const own = ctx.answers?.fetched?.(facts, body, args.output_format);
  if (own !== undefined) return { content: [{ type: 'text', text: own }], details: facts };
  const header = [
    `URL: ${facts.url}`,
    `Status: ${facts.status} ${document.statusText}`,
    `Content-Type: ${facts.contentType === '' ? 'unknown' : facts.contentType}`,
    ...(document.contentLength === undefined ? [] : [`Content-Length: ${document.contentLength}`]),
    ...(shown.title === undefined ? [] : [`Title: ${shown.title}`]),
    `Truncated: ${truncated ? 'yes' : 'no'}`,
    ...(shown.note === undefined ? [] : [`Note: ${shown.note}`]),
  ].join('\n');
  const text = shown.mode === 'metadata_only' ? header : `${header}\n\n${body}${truncated ? '\n\n[truncated]' : ''}`;
  return {
    content: [{ type: 'text', text }],
    details: facts,
    data: { body: shown.mode === 'metadata_only' ? '' : body, statusText: document.statusText, bytes: document.body.length },
  };
}

/** Shown part of a text, without a partial secret at a cut. */
function shownPart(text: string, cut: boolean, ctx: ToolContext): string {
  return cut ? ctx.redact(text, true) : text;
}

/** The first `chars` UTF-16 units, never half of a surrogate pair. */
function cutChars(text: string, chars: number): string {
  if (text.length <= chars) return text;
  const last = text.charCodeAt(chars - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? chars - 1 : chars);
}
