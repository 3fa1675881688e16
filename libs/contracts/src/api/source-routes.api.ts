import { z } from 'zod';
import { SourceDefinition, SourceName } from '../sources/source.js';
import { BUNDLE_UPLOAD_BYTES, UploadedBundle } from './bundles.api.js';
import { BODY, KEY, type Route } from './route.api.js';
import { ReprDigest } from './route-parts.api.js';
import { AcceptSourceBody, Source, SourcePage, SourceSummary } from './sources.api.js';

const SourceParams = z.object({ name: SourceName });

/** Where tools that are not built in come from. */
export const SOURCE_ROUTES = {
  listSources: {
    method: 'get',
    path: '/v1/sources',
    tag: 'tools',
    scope: 'admin',
    summary: 'Tool sources of the tenant, and those that all tenants share, with their health',
    responses: { 200: { description: 'Sources, by name.', schema: SourcePage } },
    problems: [...KEY, 'overloaded'],
  },
  getSource: {
    method: 'get',
    path: '/v1/sources/{name}',
    tag: 'tools',
    scope: 'admin',
    summary: 'One source, its tools, and what changed in those that wait for a person',
    params: SourceParams,
    responses: { 200: { description: 'The source.', schema: Source } },
    problems: [...KEY, 'resource_not_found', 'overloaded'],
  },
  addSource: {
    method: 'post',
    path: '/v1/sources',
    idempotent: true,
    tag: 'tools',
    scope: 'admin',
    summary: 'Add a tool source to the tenant, or replace one that was added like this',
    description: 'Workers connect to it within seconds. Commands, folders and secrets need the permission of the operator (`sourceRules`).',
    body: SourceDefinition,
    responses: { 201: { description: 'The source as it is known now.', headers: ['Location'], schema: SourceSummary } },
    problems: [...BODY, ...KEY, 'conflict', 'overloaded'],
  },
  uploadBundle: {
    method: 'post',
    path: '/v1/bundles',
    idempotent: true,
    tag: 'tools',
    scope: 'admin',
    summary: 'Upload an MCP bundle, for a source that names its digest',
    description: `At most ${BUNDLE_UPLOAD_BYTES.toLocaleString('en-US')} bytes. It is stored for a day, and as long as a source of the tenant uses it. Needs \`sourceRules.allowCommands\`, since its server is a program on the workers.`,
    headers: z.object({ 'Repr-Digest': ReprDigest }),
    body: z.file().meta({ description: 'The file (`.mcpb`).' }),
    bodyMediaType: 'application/octet-stream',
    responses: { 201: { description: 'The bundle, and what can be set.', schema: UploadedBundle } },
    problems: ['invalid_request', 'payload_too_large', 'unsupported_media_type', ...KEY, 'conflict', 'overloaded'],
  },
  removeSource: {
    method: 'delete',
    path: '/v1/sources/{name}',
    tag: 'tools',
    scope: 'admin',
    summary: 'Remove a source that was added over HTTP, and what was accepted of its tools',
    params: SourceParams,
    responses: { 204: { description: 'Removed.' } },
    problems: [...KEY, 'resource_not_found', 'conflict', 'overloaded'],
  },
  acceptSource: {
    method: 'post',
    path: '/v1/sources/{name}/accept',
    idempotent: true,
    tag: 'tools',
    scope: 'admin',
    summary: 'Accept changed tools of a source, so that they can be called again',
    params: SourceParams,
    body: AcceptSourceBody,
    bodyOptional: true,
    responses: { 200: { description: 'The source after the change.', schema: Source } },
    problems: [...BODY, ...KEY, 'resource_not_found', 'overloaded'],
  },
} as const satisfies Record<string, Route>;
