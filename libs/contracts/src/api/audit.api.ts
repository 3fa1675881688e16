import { z } from 'zod';
import { AdminEvent, AdminType } from '../events/admin.events.js';
import { ADMIN_EVENT_EXAMPLES } from '../values/examples.js';
import { LIMITS } from '../values/limits.js';
import { anyOf, Behind, QUERY_LIMITS, QueryNumber } from './call-list.api.js';
import { KEY, type Route } from './route.api.js';

const Timestamp = z.iso.datetime({ offset: true });

export const ListActsQuery = z
  .strictObject({
    cursor: z.string().max(QUERY_LIMITS.cursorChars).optional().describe('`nextCursor` of the page before. Absent for the first page.'),
    limit: QueryNumber.int().min(1).max(LIMITS.pageSize).default(50).describe('Most acts of the page: 1 to 200.'),
    type: anyOf(AdminType, 'admin.key_created').optional().describe('What was done.'),
    keyId: anyOf(z.string().min(1).max(800), 'admin').optional().describe('The key with which it was done.'),
    target: z
      .string()
      .min(1)
      .max(1_024)
      .optional()
      .describe('What was changed: the id or name of a key, session, source, schedule, delivery or call.'),
    since: Timestamp.optional().describe('Done at this time or later: RFC 3339.'),
    until: Timestamp.optional().describe('Done at this time or earlier: RFC 3339.'),
  })
  .meta({ id: 'ListActsQuery' });
export type ListActsQuery = z.output<typeof ListActsQuery>;

export const ActPage = z
  .object({
    acts: z.array(AdminEvent).describe('Newest first.'),
    nextCursor: z.string().optional().describe('The `cursor` of the next page. Absent on the last.'),
    behind: Behind.optional().describe('The answer is older than the log. Absent where it is not.'),
  })
  .meta({ id: 'ActPage', description: 'A page of administrative acts, newest first.', examples: [{ acts: ADMIN_EVENT_EXAMPLES }] });
export type ActPage = z.output<typeof ActPage>;

export const AUDIT_ROUTES = {
  listActs: {
    method: 'get',
    path: '/v1/audit',
    tag: 'audit',
    scope: 'admin',
    summary: 'Administrative acts, newest first',
    description:
      'Who changed keys, sessions, grants, sources, schedules and the config file, sent deliveries again or erased calls. Each act is ' +
      'an event of the log: it is archived and verified like the events of calls. `GET /v1/calls:export?acts=true` has them too.',
    query: ListActsQuery,
    responses: { 200: { description: 'A page of acts.', schema: ActPage } },
    problems: [...KEY, 'invalid_request', 'history_unavailable'],
  },
} as const satisfies Record<string, Route>;
