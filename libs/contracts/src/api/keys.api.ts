import { z } from 'zod';
import { KEY_EXAMPLES, CREATE_KEY_EXAMPLES, ISSUED_KEY_EXAMPLES, ROTATE_KEY_EXAMPLES } from '../values/examples.js';
import { KEY_RIGHTS } from '../values/key-rights.js';
import { Label } from '../values/names.js';
import { BODY, KEY, type Route } from './route.api.js';

const DAY_MS = 24 * 3_600_000;

export const KEY_LIMITS = { perTenant: 500, keptMs: 30 * DAY_MS, overlapMs: 30 * DAY_MS, secrets: 8 } as const;

const KeyName = z.string().min(1).max(128);

/** Body of `POST /v1/keys`. */
export const CreateKeyBody = z
  .strictObject({
    ...KEY_RIGHTS,
    name: KeyName.describe('For people: what the key is for.'),
  })
  .meta({
    id: 'CreateKey',
    description:
      'A key of the same tenant. It may do no more than the key that makes it. A bound that is left out (`tools`, `agent`, `user`, `users`, `ratePerMinute`, and the `expiresAt` of an API key) is that of the key that makes it.',
    examples: CREATE_KEY_EXAMPLES,
  });
export type CreateKeyBody = z.output<typeof CreateKeyBody>;

/** Body of `POST /v1/keys/:id/rotate`. */
export const RotateKeyBody = z
  .strictObject({
    overlapMs: z
      .number()
      .int()
      .min(0)
      .max(KEY_LIMITS.overlapMs)
      .default(DAY_MS)
      .describe('Milliseconds for which the texts before keep working, at most 30 days; 0 ends them at once. Not set: one day.'),
  })
  .meta({ id: 'RotateKey', description: 'How long the texts before keep working.', examples: ROTATE_KEY_EXAMPLES });
export type RotateKeyBody = z.output<typeof RotateKeyBody>;

export const ApiKey = z
  .object({
    ...KEY_RIGHTS,
    id: z.string().describe('Names the key in events, logs and routes; never the key itself.'),
    name: KeyName.optional().describe('What the key is for. Absent for keys of the config file.'),
    origin: z
      .enum(['config', 'api'])
      .describe('`config`: of the config file or TOOLYARD_API_KEY, and changed there only. `api`: made by this interface.'),
    status: z.enum(['active', 'expired', 'revoked']).describe('Only an active key is accepted.'),
    createdAt: z.string().optional().describe('When it was made: RFC 3339, UTC. Absent for keys of the config file.'),
    createdBy: z.string().optional().describe('The id of the key or token that made it. Absent for keys of the config file.'),
    createdByName: z
      .string()
      .optional()
      .describe(
        'Who made it, for people: the name and address of the person who was signed in, or the `name` of the key, as they were then. Absent where only `createdBy` is known.',
      ),
    rotatedAt: z.string().optional().describe('When it got its present text: RFC 3339, UTC. Absent before the first rotation.'),
    overlapUntil: z.string().optional().describe('Until when a text before its present one works: RFC 3339, UTC. Absent when none does.'),
    revokedAt: z.string().optional().describe('Since when it is revoked: RFC 3339, UTC. Absent unless it is.'),
    revokedBy: z.string().optional().describe('The id of the key or token that revoked it. Absent unless it is revoked.'),
    revokedByName: z.string().optional().describe('The person who revoked it. Absent unless a person had signed in.'),
    lastUsedAt: z
      .string()
      .optional()
      .describe('The last request with it that was noted: RFC 3339, UTC; up to 10 s behind. Absent if there was none.'),
  })
  .meta({ id: 'ApiKey', description: 'An API key of the tenant, without its text.', examples: KEY_EXAMPLES });
export type ApiKey = z.output<typeof ApiKey>;

export const IssuedKey = ApiKey.extend({
  key: z.string().describe('The text of the key. It is shown this once: only its SHA-256 is stored.'),
}).meta({ id: 'IssuedKey', description: 'A key with its new text, which cannot be read again.', examples: ISSUED_KEY_EXAMPLES });
export type IssuedKey = z.output<typeof IssuedKey>;

export const ApiKeyPage = z
  .object({ keys: z.array(ApiKey).describe('Those of the config file, then the others, oldest first.') })
  .meta({ id: 'ApiKeyPage', description: 'The API keys of the tenant.' });
export type ApiKeyPage = z.output<typeof ApiKeyPage>;

const params = z.object({ id: Label.describe('The id of the key.') });

export const KEY_ROUTES = {
  listKeys: {
    method: 'get',
    path: '/v1/keys',
    tag: 'keys',
    scope: 'admin',
    summary: 'The API keys of the tenant, and when each was used last',
    description: 'Revoked and expired keys are listed for 30 days after their end.',
    responses: { 200: { description: 'All of them, without their texts.', schema: ApiKeyPage } },
    problems: [...KEY, 'overloaded'],
  },
  createKey: {
    method: 'post',
    path: '/v1/keys',
    tag: 'keys',
    scope: 'admin',
    summary: 'Make an API key for the tenant; the answer is the only one with its text',
    description:
      'It works on every gateway when the answer comes. Under `approvals.fourEyes` it counts as the person who made it. Keys with `workerSecrets` or a `person` of their own belong into the config file.',
    body: CreateKeyBody,
    responses: { 201: { description: 'The key with its text.', headers: ['Location'], schema: IssuedKey } },
    problems: [...BODY, ...KEY, 'quota_exceeded', 'overloaded'],
  },
  getKey: {
    method: 'get',
    path: '/v1/keys/{id}',
    tag: 'keys',
    scope: 'admin',
    summary: 'One API key of the tenant, without its text',
    params,
    responses: { 200: { description: 'The key as it is now.', schema: ApiKey } },
    problems: [...KEY, 'resource_not_found', 'overloaded'],
  },
  rotateKey: {
    method: 'post',
    path: '/v1/keys/{id}/rotate',
    tag: 'keys',
    scope: 'admin',
    summary: 'Give a key a new text; the ones before keep working for a while',
    description: 'Id and rights stay. Only for a key that may do no more than the one that asks, since the answer has its text.',
    params,
    body: RotateKeyBody,
    bodyOptional: true,
    responses: { 200: { description: 'The key with its new text.', schema: IssuedKey } },
    problems: [...BODY, ...KEY, 'resource_not_found', 'conflict', 'overloaded'],
  },
  revokeKey: {
    method: 'delete',
    path: '/v1/keys/{id}',
    tag: 'keys',
    scope: 'admin',
    summary: 'End a key at once, with all its texts; safe to repeat',
    description:
      'Open sockets and streams of the key are closed, its schedules pause. Keys that were made with it stay: `createdBy` names it.',
    params,
    responses: { 204: { description: 'Revoked.' } },
    problems: [...KEY, 'resource_not_found', 'conflict', 'overloaded'],
  },
} as const satisfies Record<string, Route>;
