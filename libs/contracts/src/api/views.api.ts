import { z } from 'zod';
import { BODY, KEY, type Route } from './route.api.js';

export const VIEW_LIMITS = { perOwner: 50, nameChars: 60, fields: 30, valueChars: 1_000, keptMs: 400 * 24 * 3_600_000 } as const;

export const ViewName = z
  .string()
  .min(1)
  .max(VIEW_LIMITS.nameChars)
  // As a pattern of JSON Schema it would be refused by programs whose patterns have no Unicode classes.
  .refine((name) => /^(?!\.{1,2}$)\P{C}+$/u.test(name), 'expected a name without control characters, other than . and ..')
  .meta({ description: 'The name of a view, without control characters, other than `.` and `..`.', examples: ['failed builds'] });

export const ViewSearch = z
  .record(z.string().min(1).max(VIEW_LIMITS.nameChars), z.string().max(VIEW_LIMITS.valueChars))
  .refine((fields) => Object.keys(fields).length <= VIEW_LIMITS.fields, `expected at most ${VIEW_LIMITS.fields} fields`)
  .meta({
    id: 'ViewSearch',
    description: `Filters, order and columns of a list as the query of its address, such as \`{"result": "error"}\`; at most ${VIEW_LIMITS.fields}.`,
  });

export const SavedView = z
  .object({ name: ViewName, search: ViewSearch, savedAt: z.iso.datetime().describe('When it was saved last: RFC 3339, UTC.') })
  .meta({ id: 'SavedView', description: 'A list of calls that is kept under a name.' });
export type SavedView = z.output<typeof SavedView>;

/** Body of `PUT /v1/views/{name}`. */
export const PutViewBody = z.strictObject({ search: ViewSearch }).meta({
  id: 'PutViewBody',
  description: 'The list that a view shows.',
  examples: [{ search: { result: 'error', since: '24h' } }],
});

const params = z.object({ name: ViewName });

export const VIEW_ROUTES = {
  listViews: {
    method: 'get',
    path: '/v1/views',
    tag: 'calls',
    scope: 'read',
    summary: 'The views of the list of calls that this key, or person, has saved',
    responses: {
      200: {
        description: 'All of them, the last saved first.',
        schema: z.object({ views: z.array(SavedView).describe('The last saved first.') }),
      },
    },
    problems: [...KEY, 'overloaded'],
  },
  putView: {
    method: 'put',
    path: '/v1/views/{name}',
    tag: 'calls',
    scope: 'read',
    summary: 'Save a view of the list of calls, or replace the one of this name',
    description: `For this key, or the person who has signed in: at most ${VIEW_LIMITS.perOwner}. They are gone when none was saved or listed for 400 days.`,
    params,
    body: PutViewBody,
    responses: { 200: { description: 'The view as it is now.', schema: SavedView } },
    problems: [...BODY, ...KEY, 'quota_exceeded', 'overloaded'],
  },
  deleteView: {
    method: 'delete',
    path: '/v1/views/{name}',
    tag: 'calls',
    scope: 'read',
    summary: 'Remove a view',
    params,
    responses: { 204: { description: 'Gone, or never saved.' } },
    problems: [...KEY, 'overloaded'],
  },
} as const satisfies Record<string, Route>;
