import { z } from 'zod';
import { CallId } from '../values/names.js';
import { BulkResult, bulkFields } from './call-list.api.js';
import { BODY, KEY, type Route } from './route.api.js';
import { BULK_ERASE_EXAMPLES, ERASE_CALL_EXAMPLES, ERASURE_EXAMPLES } from '../values/examples.js';

const reason = z
  .string()
  .max(1024)
  .optional()
  .describe('Why, for the record of erasures: at most 1,024 characters. Not content of the call.');

/** Body of `POST /v1/calls/:id/erase`. */
export const EraseBody = z
  .strictObject({ reason })
  .meta({ id: 'EraseCall', description: 'Why a call is erased.', examples: ERASE_CALL_EXAMPLES });
export type EraseBody = z.output<typeof EraseBody>;

/** Body of `POST /v1/calls:erase`, for matching calls that have ended. */
export const BulkEraseBody = z.strictObject({ ...bulkFields, reason }).meta({
  id: 'BulkErase',
  description: 'Which calls to erase; of those that fit, the ones that have ended.',
  examples: BULK_ERASE_EXAMPLES,
});
export type BulkEraseBody = z.output<typeof BulkEraseBody>;

export const Erasure = z
  .object({
    callId: z.string().describe('The call.'),
    state: z
      .enum(['pending', 'done', 'failed'])
      .describe(
        '`pending`: lists have no texts of it, and it leaves Redis as soon as it is archived, some 20 seconds after its End; `done`: its key is deleted; `failed`: see `fault`.',
      ),
    requestedBy: z.string().describe('Who asked first, such as `apikey:admin`.'),
    requestedAt: z.string().describe('When: RFC 3339, UTC.'),
    reason: z.string().optional().describe('What the first request said. Absent if nothing.'),
    doneAt: z.string().optional().describe('When the last copy that this system reaches was deleted: RFC 3339, UTC. Absent before.'),
    fault: z.string().optional().describe('Why it cannot be completed. Absent otherwise.'),
    notReached: z.array(z.string()).describe('Where copies may be that this system does not delete.'),
  })
  .meta({ id: 'Erasure', description: 'The erasure of the content of a call.', examples: ERASURE_EXAMPLES });
export type Erasure = z.output<typeof Erasure>;

export const ERASURE_ROUTES = {
  eraseCall: {
    method: 'post',
    path: '/v1/calls/{id}/erase',
    idempotent: true,
    tag: 'calls',
    scope: 'admin',
    summary: 'Erase the content of an ended call; a repetition says how far it is',
    description:
      'Arguments, results, outputs, labels and texts. Who called which tool when, and how it ended, stays, and the archive still verifies. For tenants that are set to it (`tenants.*.retention.erasable`) and are under no legal hold. What was done cannot be undone.',
    params: z.object({ id: CallId.describe('The id of the call.') }),
    body: EraseBody,
    bodyOptional: true,
    responses: { 202: { description: 'Recorded; `state` says how far it is.', schema: Erasure } },
    problems: [...BODY, ...KEY, 'resource_not_found', 'conflict', 'history_unavailable'],
  },
  eraseCalls: {
    method: 'post',
    path: '/v1/calls:erase',
    idempotent: true,
    tag: 'calls',
    scope: 'admin',
    summary: 'Erase the content of the ended calls that fit a filter, or say how many that would be',
    body: BulkEraseBody,
    responses: { 200: { description: 'What was done; `cursor` when there are more.', schema: BulkResult } },
    problems: [...BODY, ...KEY, 'conflict', 'history_unavailable'],
  },
} as const satisfies Record<string, Route>;
