import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { stringify } from 'yaml';
import { asyncApiDocument } from './asyncapi.js';
import { openApiDocument } from './openapi.js';
import { STREAM_STYLE, streamPage } from './stream-page.js';

const JSON_TYPE = 'application/json; charset=utf-8';
const HTML_TYPE = 'text/html; charset=utf-8';

/** Allows the page its style and icon, and no script. */
const CONTENT_SECURITY_POLICY = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'";

/**
 * Serves `/docs/stream`, `/openapi.json`, `/openapi.yaml` and `/asyncapi.json`, all without a key: they contain only the public
 * contract. Creates them on first use, since they take a fifth of a gateway's start time. `/docs` is a page of the dashboard.
 */
export function setupDocs(app: NestFastifyApplication, version: string): void {
  const fastify: FastifyInstance = app.getHttpAdapter().getInstance();
  serveOnce(fastify, '/openapi.json', JSON_TYPE, () => JSON.stringify(openApiDocument(version)));
  serveOnce(fastify, '/openapi.yaml', 'text/yaml; charset=utf-8', () =>
    stringify(openApiDocument(version), { aliasDuplicateObjects: false }),
  );
  serveOnce(fastify, '/asyncapi.json', JSON_TYPE, () => JSON.stringify(asyncApiDocument(version)));
  serveOnce(fastify, '/docs/stream', HTML_TYPE, () => streamPage(asyncApiDocument(version)), CONTENT_SECURITY_POLICY);
  serveOnce(fastify, '/docs/stream.css', 'text/css; charset=utf-8', () => STREAM_STYLE);
}

function serveOnce(fastify: FastifyInstance, path: string, type: string, make: () => string, policy?: string): void {
  let text: string | undefined;
  fastify.get(path, (_request, reply: FastifyReply) => {
    if (policy !== undefined) void reply.header('Content-Security-Policy', policy);
    return reply.type(type).send((text ??= make()));
  });
}
