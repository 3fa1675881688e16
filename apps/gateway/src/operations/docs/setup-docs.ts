import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import { asyncApiDocument } from './asyncapi.js';
import { openApiDocument } from './openapi.js';

/**
 * Serves `/docs` (explorer), `/openapi.json` and `/asyncapi.json`, all without a key: they hold nothing but the public contract.
 * Both documents are made when they are first asked for: a fifth of the time that a gateway would need to start.
 */
export function setupDocs(app: NestFastifyApplication, version: string): void {
  let openApi: OpenAPIObject | undefined;
  let asyncApi: string | undefined;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- two packages' types of one standard
  SwaggerModule.setup('docs', app, () => (openApi ??= openApiDocument(version) as OpenAPIObject), {
    jsonDocumentUrl: 'openapi.json',
    yamlDocumentUrl: 'openapi.yaml',
    customSiteTitle: 'Toolyard API',
  });
  app
    .getHttpAdapter()
    .getInstance()
    .get('/asyncapi.json', (_request, reply) =>
      reply.type('application/json; charset=utf-8').send((asyncApi ??= JSON.stringify(asyncApiDocument(version)))),
    );
}
