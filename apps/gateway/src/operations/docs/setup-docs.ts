import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { stringify } from 'yaml';
import { LOGIN_HEADER } from '#contracts';
import { asyncApiDocument } from './asyncapi.js';
import { EXPLORER_SAMPLES } from './explorer-samples.js';
import { EXPLORER_SCHEME, EXPLORER_SCRIPT, EXPLORER_STYLE } from './explorer-style.js';
import { openApiDocument } from './openapi.js';
import { STREAM_STYLE, streamPage } from './stream-page.js';

const JSON_TYPE = 'application/json; charset=utf-8';
const HTML_TYPE = 'text/html; charset=utf-8';

/** Limits scripts and requests of the page to this gateway. Swagger UI sets styles and images in its elements. */
const CONTENT_SECURITY_POLICY =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; object-src 'none'; base-uri 'none'; frame-ancestors 'none'";

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Toolyard API</title>
    <link rel="stylesheet" href="docs/swagger-ui.css" />
    <link rel="stylesheet" href="docs/explorer.css" />
    <link rel="icon" type="image/png" href="docs/favicon-32x32.png" sizes="32x32" />
  </head>
  <body>
    <div id="swagger-ui"></div>
    <script src="docs/swagger-ui-bundle.js"></script>
    <script src="docs/explorer.js"></script>
  </body>
</html>
`;

/**
 * Omits `deepLinking`, which would nest a link in a button. A tab opened from the dashboard has its key in the tab's storage,
 * and Swagger UI sends it like an entered one. Without a key the browser sends the login cookie.
 */
const EXPLORER = `${EXPLORER_SCHEME}
${EXPLORER_SAMPLES}
var explorer = SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#swagger-ui',
  deepLinking: false,
  plugins: [codeSamples],
  requestInterceptor: function (request) {
    if (sessionStorage.getItem('toolyard.key') === null) request.headers['${LOGIN_HEADER}'] = '1';
    return request;
  },
  onComplete: function () {
    var key = sessionStorage.getItem('toolyard.key');
    if (key !== null) explorer.preauthorizeApiKey('apiKey', key);
  },
});
${EXPLORER_SCRIPT}`;

/**
 * Serves `/docs` (Swagger UI), `/docs/stream`, `/openapi.json`, `/openapi.yaml` and `/asyncapi.json`, all without a key: they
 * contain only the public contract. Creates the documents on first use, since they take a fifth of a gateway's start time.
 */
export async function setupDocs(app: NestFastifyApplication, version: string): Promise<void> {
  const fastify: FastifyInstance = app.getHttpAdapter().getInstance();
  serveOnce(fastify, '/openapi.json', JSON_TYPE, () => JSON.stringify(openApiDocument(version)));
  serveOnce(fastify, '/openapi.yaml', 'text/yaml; charset=utf-8', () =>
    stringify(openApiDocument(version), { aliasDuplicateObjects: false }),
  );
  serveOnce(fastify, '/asyncapi.json', JSON_TYPE, () => JSON.stringify(asyncApiDocument(version)));
  fastify.get('/docs', (_request, reply) => reply.type(HTML_TYPE).header('Content-Security-Policy', CONTENT_SECURITY_POLICY).send(PAGE));
  serveOnce(fastify, '/docs/stream', HTML_TYPE, () => streamPage(asyncApiDocument(version)), CONTENT_SECURITY_POLICY);
  serveOnce(fastify, '/docs/stream.css', 'text/css; charset=utf-8', () => STREAM_STYLE);
  fastify.get('/docs/explorer.css', (_request, reply) => reply.type('text/css; charset=utf-8').send(EXPLORER_STYLE));
  fastify.get('/docs/explorer.js', (_request, reply) => reply.type('text/javascript; charset=utf-8').send(EXPLORER));
  const root = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/swagger-ui.css'));
  await fastify.register(fastifyStatic, { root, prefix: '/docs/', index: false, decorateReply: false });
}

function serveOnce(fastify: FastifyInstance, path: string, type: string, make: () => string, policy?: string): void {
  let text: string | undefined;
  fastify.get(path, (_request, reply: FastifyReply) => {
    if (policy !== undefined) void reply.header('Content-Security-Policy', policy);
    return reply.type(type).send((text ??= make()));
  });
}
