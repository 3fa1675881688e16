import { z } from 'zod';
import { CallFilter } from './call-list.api.js';
import { KEY, type Route } from './route.api.js';

/** Formats for analysis tools, with the media type of each. */
export const EXPORT_TYPES = { jsonl: 'application/x-ndjson', parquet: 'application/vnd.apache.parquet' } as const;
export type ExportFormat = keyof typeof EXPORT_TYPES;

const FORMATS = ['jsonl', 'parquet'] as const satisfies readonly ExportFormat[];

/** Query of `GET /v1/calls:export`. */
export const ExportQuery = CallFilter.extend({
  format: z
    .enum(FORMATS, { error: 'expected jsonl or parquet; OCSF and CEF are not implemented' })
    .default('jsonl')
    .meta({ description: '`jsonl`: an event a line. `parquet`: an event a row, its `data` as JSON.', examples: ['jsonl'] }),
  acts: z
    .enum(['true', 'false'])
    .default('false')
    .transform((text) => text === 'true')
    .meta({
      description: '`true`: after the calls also the administrative acts between `since` and `until`. It needs the scope `admin`.',
      examples: ['true'],
    }),
}).meta({ id: 'ExportQuery' });
export type ExportQuery = z.output<typeof ExportQuery>;

export const EXPORT_ROUTES = {
  exportCalls: {
    method: 'get',
    path: '/v1/calls:export',
    tag: 'calls',
    scope: 'read',
    summary: 'All events of the calls that fit a filter, as JSON lines or Parquet',
    description:
      'Call by call, newest first; of each call the events so far, oldest first, also those that have left Redis. Calls that are ' +
      'submitted meanwhile are not in it. An export that cannot be completed ends with a connection that is cut, never with the ' +
      'regular end of the response; repeat it then. `format=parquet` is answered with `application/vnd.apache.parquet`.',
    query: ExportQuery,
    responses: {
      200: { description: 'One JSON text a line (CloudEvents 1.0), or a Parquet file.', mediaType: EXPORT_TYPES.jsonl, schema: z.string() },
    },
    problems: [...KEY, 'invalid_request', 'overloaded', 'history_unavailable'],
  },
} as const satisfies Record<string, Route>;
