import { z } from 'zod';
import { AUDIT_ROUTES } from './audit.api.js';
import { BATCH_ROUTES } from './batch-routes.api.js';
import { ApprovalPage, ListApprovalsQuery } from './call-list.api.js';
import { CALL_ROUTES, SUBMIT_ROUTES } from './call-routes.api.js';
import { ERASURE_ROUTES } from './erasure.api.js';
import { StreamEventsQuery, StreamItem } from './events.api.js';
import { EXPORT_ROUTES } from './export.api.js';
import { KEY_ROUTES } from './keys.api.js';
import { LOGIN_ROUTES } from './login.api.js';
import { MCP_ROUTES } from './mcp.api.js';
import { OPERATION_ROUTES } from './operation-routes.api.js';
import { POLICY_TEST_ROUTES } from './policy-test.api.js';
import { QUERY_ROUTES } from './query-routes.api.js';
import { ResumeHeaders, STREAM_TEXT } from './route-parts.api.js';
import { KEY, type Route } from './route.api.js';
import { SCHEDULE_ROUTES } from './schedules.api.js';
import { SESSION_ROUTES } from './session-routes.api.js';
import { SOURCE_ROUTES } from './source-routes.api.js';
import { ListToolsQuery, ModelToolPage, ToolPage } from './status.api.js';
import { USAGE_ROUTES } from './usage.api.js';
import { VIEW_ROUTES } from './views.api.js';
import { WEBHOOK_ROUTES } from './webhooks.api.js';
import { WORKER_ROUTES } from './worker-routes.api.js';

/** Every HTTP route, by its `operationId`. */
export const ROUTES = {
  ...SUBMIT_ROUTES,
  ...QUERY_ROUTES,
  ...EXPORT_ROUTES,
  ...CALL_ROUTES,
  ...VIEW_ROUTES,
  ...BATCH_ROUTES,
  listApprovals: {
    method: 'get',
    path: '/v1/approvals',
    tag: 'approvals',
    scope: 'read',
    summary: 'Calls that wait for a person',
    query: ListApprovalsQuery,
    responses: { 200: { description: 'A page of calls.', schema: ApprovalPage } },
    problems: [...KEY, 'invalid_request'],
  },
  listTools: {
    method: 'get',
    path: '/v1/tools',
    tag: 'tools',
    scope: 'read',
    summary: 'The tools this key may use, for a session or an agent, in the shape a model API wants',
    query: ListToolsQuery,
    responses: {
      200: {
        description:
          'By `format`: `full` as below; `mcp`, `anthropic`, `openai` (Chat Completions) and `openai-responses` as those APIs define their tool lists; `function` as `{name, description, parameters}`, without `description` where the source of the tool gives none; `permissions` as `anthropic`, with the permission mode that each tool requires.',
        schema: z.union([ToolPage, ModelToolPage]),
      },
    },
    problems: [...KEY, 'invalid_request', 'not_implemented'],
  },
  ...SESSION_ROUTES,
  streamEvents: {
    method: 'get',
    path: '/v1/events',
    tag: 'events',
    scope: 'read',
    summary: 'Everything the key may see, live; what happens beside calls only where `types` names it',
    query: StreamEventsQuery,
    headers: ResumeHeaders,
    responses: { 200: { description: STREAM_TEXT, mediaType: 'text/event-stream', schema: StreamItem } },
    problems: [...KEY, 'resource_not_found', 'overloaded'],
  },
  ...SOURCE_ROUTES,
  ...MCP_ROUTES,
  ...SCHEDULE_ROUTES,
  ...KEY_ROUTES,
  ...LOGIN_ROUTES,
  ...AUDIT_ROUTES,
  ...USAGE_ROUTES,
  ...POLICY_TEST_ROUTES,
  ...WEBHOOK_ROUTES,
  ...WORKER_ROUTES,
  ...ERASURE_ROUTES,
  ...OPERATION_ROUTES,
} as const satisfies Record<string, Route>;
