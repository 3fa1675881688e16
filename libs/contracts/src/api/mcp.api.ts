import { z } from 'zod';
import { Dialect } from '../values/dialect.js';
import { Label } from '../values/names.js';
import { IdempotencyKey } from './calls.api.js';
import { KEY, type Route } from './route.api.js';

/**
 * Additional fields in `_meta` of a `tools/call` of the Model Context Protocol. They have the same meaning as those of a
 * submission over HTTP. `traceparent` and `progressToken` are the protocol's own.
 */
export const McpCallMeta = z.object({
  'io.toolyard/idempotencyKey': IdempotencyKey.optional().describe('As the header `Idempotency-Key`.'),
  'io.toolyard/sessionId': Label.optional().describe('As `sessionId` of a call.'),
  'io.toolyard/agentId': Label.optional().describe('As `agentId` of a call.'),
  'io.toolyard/userId': Label.optional().describe('As `userId` of a call.'),
  'io.toolyard/dialect': Dialect.optional().describe('As `dialect` of a call.'),
  'io.toolyard/toolCallId': z.string().min(1).max(256).optional().describe('As `toolCallId` of a call.'),
  'claudecode/toolUseId': z.string().min(1).max(256).optional().catch(undefined).describe('The same, as Claude Code names it.'),
});
export type McpCallMeta = z.output<typeof McpCallMeta>;

/** Fields in `_meta` of a result: its call, and the reason of a failure. */
export const MCP_RESULT_META = {
  callId: 'io.toolyard/callId',
  status: 'io.toolyard/status',
  outcome: 'io.toolyard/outcome',
  error: 'io.toolyard/error',
} as const;

/** Tool for requesting the result of a call that outlasted its client's wait. */
export const CALL_RESULT_TOOL = 'call_result';

/** Resource URI of a call's whole output, for `resources/read`. */
export const MCP_OUTPUT_URI = 'toolyard://calls/{callId}/output';

/** One JSON-RPC message. */
export const McpMessage = z
  .looseObject({
    jsonrpc: z.literal('2.0').describe('The version of JSON-RPC.'),
    id: z.union([z.string(), z.number()]).nullable().optional().describe('Absent in a notification.'),
    method: z.string().optional().describe('Of a request or notification.'),
    params: z.looseObject({}).optional().describe('Of a request or notification.'),
    result: z.looseObject({}).optional().describe('Of an answer.'),
    error: z
      .looseObject({ code: z.number().int().describe('Of JSON-RPC or MCP.'), message: z.string().describe('For people.') })
      .optional()
      .describe('Of an answer without success.'),
  })
  .meta({ id: 'McpMessage', description: 'One JSON-RPC message of the Model Context Protocol.' });

/** Protected resource metadata (RFC 9728), by which clients find the authorization servers. */
export const ProtectedResource = z
  .object({
    resource: z.string().describe('The URL of the MCP endpoint.'),
    resource_name: z.string().describe('For people.'),
    authorization_servers: z.array(z.string()).optional().describe('Issuers whose tokens are accepted; absent: API keys only.'),
    bearer_methods_supported: z.array(z.string()).describe('Where the key or token stands: `header`.'),
    scopes_supported: z.array(z.string()).describe('Scopes that a key or token can have.'),
  })
  .meta({ id: 'ProtectedResource', description: 'Metadata of the MCP endpoint as a protected resource (RFC 9728).' });
export type ProtectedResource = z.output<typeof ProtectedResource>;

const SessionHeaders = z.object({
  'Mcp-Session-Id': z.string().optional().meta({ description: 'Revisions before 2026-07-28: the id that `initialize` was answered with.' }),
});
const refused = (description: string) => ({ description, schema: McpMessage });
const SESSION_REFUSALS = {
  400: refused('No session is named, or the headers are wrong.'),
  404: refused('The session is unknown or over: send `initialize` again.'),
  406: refused('The header `Accept` does not take what would be the answer.'),
} as const;
const metadata = {
  method: 'get',
  tag: 'mcp',
  summary: 'How to authenticate at the MCP endpoint (RFC 9728)',
  description: 'MCP clients read here which issuers of tokens the gateway accepts. Needs no key.',
  responses: { 200: { description: 'The metadata of the protected resource.', schema: ProtectedResource } },
  problems: [],
} as const;

/** The Model Context Protocol endpoint. */
export const MCP_ROUTES = {
  postMcp: {
    method: 'post',
    path: '/mcp',
    tag: 'mcp',
    scope: 'read',
    summary: 'One message of the Model Context Protocol',
    description:
      'Streamable HTTP, revisions 2026-07-28 (stateless) and 2025-11-25 (after `initialize`). Use the SDK of the protocol. `tools/call` also needs the scope `submit`, a cancel the scope `cancel`, an answer to an approval the scope `approve`.',
    headers: SessionHeaders,
    body: McpMessage,
    responses: {
      200: {
        description: 'The answer, as JSON or as a stream that ends with it.',
        schema: McpMessage,
        events: McpMessage,
        headers: ['Mcp-Session-Id'],
      },
      202: { description: 'A notification or an answer was taken.' },
      ...SESSION_REFUSALS,
      400: refused('No message, or one that the protocol does not allow: the error of JSON-RPC or MCP.'),
    },
    problems: [...KEY, 'overloaded'],
  },
  getMcp: {
    method: 'get',
    path: '/mcp',
    tag: 'mcp',
    scope: 'read',
    summary: 'The notifications of an MCP session of a revision before 2026-07-28',
    headers: SessionHeaders,
    responses: {
      200: { description: 'A stream of notifications.', mediaType: 'text/event-stream', schema: McpMessage },
      ...SESSION_REFUSALS,
    },
    problems: [...KEY, 'overloaded'],
  },
  deleteMcp: {
    method: 'delete',
    path: '/mcp',
    tag: 'mcp',
    scope: 'read',
    summary: 'End an MCP session of a revision before 2026-07-28',
    headers: SessionHeaders,
    responses: { 200: { description: 'It is over. Its calls go on.' }, ...SESSION_REFUSALS },
    problems: [...KEY],
  },
  getMcpResource: { ...metadata, path: '/.well-known/oauth-protected-resource/mcp' },
  getProtectedResource: { ...metadata, path: '/.well-known/oauth-protected-resource' },
} as const satisfies Record<string, Route>;
