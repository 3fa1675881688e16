export * from './errors/error.catalog.js';
export * from './errors/problem.js';
export * from './values/names.js';
export * from './values/dialect.js';
export * from './values/code.js';
export * from './values/json.js';
export * from './values/exact-json.js';
export * from './values/json-parts.js';
export * from './values/file-change.js';
export * from './values/hidden-characters.js';
export * from './values/result.js';
export * from './values/limits.js';
export * from './values/validation-faults.js';
export * from './calls/approval.js';
export * from './calls/call.js';
export * from './policy/batch-strategy.js';
export * from './policy/command-policy.js';
export * from './policy/file-access.js';
export * from './policy/limits.js';
export * from './policy/path-policy.js';
export * from './policy/policy-config.js';
export * from './policy/profile.js';
export * from './policy/profiles.js';
export * from './policy/session-grants.js';
export * from './policy/tool-settings.js';
export * from './tools/tool.js';
export * from './hooks/hook.js';
export * from './sources/source.js';
export * from './sources/announced-source.js';
export * from './sources/folder-tool.js';
export * from './jobs/call-job.js';
export * from './jobs/tool-answer.js';
export * from './events/claim-check.js';
export * from './events/submission.events.js';
export * from './events/approval.events.js';
export * from './events/attempt.events.js';
export * from './events/suspension.events.js';
export * from './events/end.events.js';
export * from './events/call.events.js';
export * from './events/system.events.js';
export * from './events/envelope.js';
export * from './events/event-filter.js';
export * from './events/admin.events.js';
export * from './values/principal.js';
export * from './api/calls.api.js';
export * from './api/call-list.api.js';
export * from './api/export.api.js';
export * from './api/erasure.api.js';
export * from './api/stats.api.js';
export * from './api/batches.api.js';
export * from './api/schedules.api.js';
export * from './api/views.api.js';
export * from './values/key-rights.js';
export * from './values/webhook-type.js';
export * from './api/keys.api.js';
export * from './api/login.api.js';
export * from './config/login.js';
export * from './api/webhooks.api.js';
export * from './api/audit.api.js';
export * from './api/usage.api.js';
export * from './api/policy-test.api.js';
export * from './config/webhook.js';
export * from './policy/execution-policy.js';
export * from './values/session-data.js';
export * from './api/sessions.api.js';
export * from './api/status.api.js';
export * from './api/sources.api.js';
export * from './api/bundles.api.js';
export * from './api/diagnostics.api.js';
export * from './api/mcp.api.js';
export * from './safety/safety-settings.js';
export * from './config/config-file.js';
export * from './config/skill-settings.js';
export * from './config/plugin-settings.js';
export * from './config/remote-hosts.js';
export * from './config/jwt-issuer.js';
export * from './config/local-installation.js';
export {
  ANY_REQUEST,
  BODY,
  KEY,
  RESPONSE_HEADERS,
  TAGS,
  WITHOUT_OPERATION,
  type BodyInputOf,
  type BodyOf,
  type HeadersOf,
  type ParamsOf,
  type QueryInputOf,
  type QueryOf,
  type ResponseHeader,
  type ResponseOf,
  type Route,
} from './api/route.api.js';
export * from './api/quote.api.js';
export * from './api/routes.api.js';
export * from './workers/worker-frames.js';
export * from './api/worker-routes.api.js';
export * from './stream/stream.js';
export * from './api/debug.api.js';
export * from './api/events.api.js';
export { CLIENT_FRAME_EXAMPLES } from './values/examples.js';
