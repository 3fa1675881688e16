import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import { asyncApiDocument } from './asyncapi.js';
import { openApiDocument } from './openapi.js';

/**
 * Serves `/docs` (explorer), `/openapi.json` and `/asyncapi.json`, all without a key: they hold nothing but the public contract.
 * Both documents are made once, at the first call of each start.
 */
export function setupDocs(app: NestFastifyApplication, version: string): void {
  const openApi = openApiDocument(version);
  const asyncApi = JSON.stringify(asyncApiDocument(version));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- two packages' types of one standard
  SwaggerModule.setup('docs', app, openApi as OpenAPIObject, {
    jsonDocumentUrl: 'openapi.json',
    yamlDocumentUrl: 'openapi.yaml',
    customSiteTitle: 'Toolyard API',
  });
  app
    .getHttpAdapter()
    .getInstance()
    .get('/asyncapi.json', (_request, reply) => reply.type('application/json; charset=utf-8').send(asyncApi));
}
