import { Optional } from '@nestjs/common';
import { z } from 'zod';
import { EgressPolicy, SafeFetch, egressPolicyFrom, type HttpAnswer } from '#sandbox';
import { Tool, type ToolContext, ToolError, type ToolOutputObject } from '#tool-sdk';
import { decodeBody, hasSignature, isTextLike, isUntyped, looksBinary } from './decode-body.js';
import { egressFailure } from './egress-failure.js';
import { checkHeaders, headersWithSecrets } from './request-headers.js';
import { HttpSecretStore, httpSecretsFrom } from './web.config.js';

const MOST_BYTES = 1_000_000;
/** Default headers: many servers reject requests without them. */
const HEADERS = { 'user-agent': 'toolyard', accept: '*/*' };
const WITHOUT_BODY = ['GET', 'HEAD'];

const input = z.strictObject({
  url: z.string().min(1).max(8_192).describe('Absolute http or https URL.'),
  method: z.enum(['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS']).default('GET').describe('HTTP method.'),
  headers: z
    .record(z.string(), z.union([z.string(), z.strictObject({ secret: z.string().min(1).max(64) })]))
    .default({})
    .describe('Request headers. {"secret": "NAME"} instead of a text sends a secret of the operator, to the hosts that it is for.'),
  body: z.string().max(1_000_000).optional().describe('Request body; not with GET and HEAD.'),
});

/** Sends one request to an API. Redirects are returned as responses: their target is checked when it is requested. */
@Tool({
  name: 'http_request',
  label: 'HTTP request',
  description:
    'Sends one HTTP request to a public address. Answers "Status: {n} {reason}", the response headers and the body (text, at most 1,000,000 bytes; of binary content only the size). ' +
    'A status of 400 or more marks the result as an error. Redirects are not followed: request the address in the location header. Private, loopback and metadata addresses are blocked. Cookies are not shown. ' +
    'To read web pages, use web_fetch.',
  input,
  tier: 'side_effecting',
  // `once`, since the effect of a method on the server is unknown.
  effect: 'once',
  pool: 'net',
  subjects: [{ kind: 'url', argument: 'url' }],
  timeoutMs: 30_000,
  argumentAliases: { url: ['uri'], body: ['data'] },
  examples: [
    { title: 'Read from an API', arguments: { url: 'https://example.com/api/items', headers: { accept: 'application/json' } } },
    {
      title: 'Send JSON with a secret',
      arguments: {
        url: 'https://example.com/api/items',
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: { secret: 'EXAMPLE_TOKEN' } },
        body: '{"name":"x"}',
      },
    },
  ],
})
export class HttpRequestTool {
  constructor(
    @Optional() private readonly policy: EgressPolicy = egressPolicyFrom(process.env),
    @Optional() private readonly secrets: HttpSecretStore = httpSecretsFrom(process.env),
  ) {}

  check({ method, headers, body }: z.output<typeof input>): void {
    checkHeaders(headers);
    if (body !== undefined && WITHOUT_BODY.includes(method)) throw new ToolError('invalid_arguments', `${method} takes no body.`);
  }

  async run(args: z.output<typeof input>, ctx: ToolContext): Promise<ToolOutputObject> {
    this.check(args);
    const { url, method, body } = args;
    const policy = this.policy.limitedTo(ctx.egress);
    const fetcher = new SafeFetch(policy);
    try {
      const { host } = policy.check(url);
      const headers = { ...HEADERS, ...headersWithSecrets(args.headers, { host, tenantId: ctx.tenantId }, this.secrets) };
      const answer = await fetcher.send(url, {
        method,
        headers,
        signal: ctx.signal,
        maxBytes: MOST_BYTES,
        ...(body === undefined ? {} : { body }),
      });
      return render(answer, ctx);
    } catch (error) {
      throw egressFailure(error);
    } finally {
      await fetcher.close();
    }
  }
}

function render(answer: HttpAnswer, ctx: ToolContext): ToolOutputObject {
  const { status, statusText, contentType, body, truncated } = answer;
  const isText = !hasSignature(body) && (isTextLike(contentType) || (isUntyped(contentType) && !looksBinary(body)));
  const headers = Object.entries(answer.headers).map(([name, value]) => `${name}: ${name === 'set-cookie' ? '[REDACTED]' : value}`);
  const text = isText ? decodeBody(body, contentType) : `[${body.length} bytes of binary content]`;
  const shown = truncated ? `${ctx.redact(text, true)}\n... [Response truncated due to size limit] ...` : text;
  return {
    content: [
      { type: 'text', text: `Status: ${status} ${statusText}\nResponse Headers: ${headers.join(', ')}\n\nResponse Body:\n${shown}` },
    ],
    ...(status >= 400 ? { isError: true } : {}),
    details: { url: answer.url, status, contentType, bytes: body.length, truncated },
  };
}
