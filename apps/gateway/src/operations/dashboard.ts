import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/**
 * Limits the page to files and requests of this gateway; no inline scripts. Inline styles are allowed, since the component
 * library sets its theme in a style element; without scripts or foreign hosts they cannot be exploited.
 */
const CONTENT_SECURITY_POLICY = [
  "default-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "media-src 'self' data:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Cache header for files under `assets/`, whose names contain a digest of their content. */
const FOREVER = 'public, max-age=31536000, immutable';

/** Pages that the contract names. */
const PAGES = ['/', '/docs'] as const;

/** Paths for programs: a browser gets the program's response, even a 404. */
const NOT_PAGES = /^\/(v1|mcp|docs\/stream(?:[.?]|$)|assets|livez|readyz|metrics|openapi\.|asyncapi\.)/;

/**
 * Serves the dashboard at `/`, its files, and its start page for every deep link (an unknown path requested by a browser).
 * Without a built dashboard the documented pages redirect to the document of the API.
 */
export async function setupDashboard(app: NestFastifyApplication, folder: string | undefined = builtDashboard()): Promise<void> {
  const fastify: FastifyInstance = app.getHttpAdapter().getInstance();
  if (folder === undefined) {
    for (const path of PAGES) fastify.get(path, (_request, reply) => reply.redirect('/openapi.json', 302));
    return;
  }
  await fastify.register(fastifyStatic, {
    root: folder,
    index: false,
    wildcard: false,
    cacheControl: false,
    setHeaders: (reply, path) => void reply.header('Cache-Control', path.includes('/assets/') ? FOREVER : 'no-cache'),
  });
  const page = (_request: FastifyRequest, reply: FastifyReply) =>
    reply.header('Content-Security-Policy', CONTENT_SECURITY_POLICY).sendFile('index.html');
  for (const path of PAGES) fastify.get(path, page);
  fastify.addHook('onRequest', (request, reply, done) => {
    if (isDeepLink(request)) page(request, reply);
    else done();
  });
}

function isDeepLink(request: FastifyRequest): boolean {
  return (
    request.is404 &&
    /^(GET|HEAD)$/.test(request.method) &&
    (request.headers.accept ?? '').includes('text/html') &&
    !NOT_PAGES.test(request.url)
  );
}

/** Folder of the bundle beside this build, or in the source tree; undefined if it was not built. */
function builtDashboard(from: string = dirname(fileURLToPath(import.meta.url))): string | undefined {
  for (let folder = from; folder !== dirname(folder); folder = dirname(folder)) {
    if (!existsSync(join(folder, 'package.json'))) continue;
    const bundle = join(folder, 'dist/apps/dashboard');
    return existsSync(join(bundle, 'index.html')) ? bundle : undefined;
  }
  return undefined;
}
