import { crc32 } from 'node:zlib';
import { sha256Hex } from './sha256-hex.js';

/**
 * Every Redis key of Toolyard. All keys of one partition share the hash tag `{pNN}`, so one script may touch them on a
 * cluster; the queue of a pool has a tag of its own.
 */
export const keys = {
  /** Number of partitions and log format of this installation: written once, checked at every start. */
  logMetadata: () => 'toolyard:installation',
  /** Running gateways and workers, each as JSON, by the Redis time of its last heartbeat. */
  processes: () => 'toolyard:processes',
  /** Newest protocol of the written data, and oldest protocol that can read it. */
  dataProtocol: () => 'toolyard:protocol',
  log: (partition: string) => `{p${partition}}:log`,
  seq: (partition: string) => `{p${partition}}:seq`,
  epoch: (partition: string) => `{p${partition}}:epoch`,
  /** Replication history of the last master of the partition; see `noticeFailover`. */
  history: (partition: string) => `{p${partition}}:history`,
  /** Workers whose start was announced and whose loss was not. */
  announcedWorkers: (partition: string) => `{p${partition}}:workers`,
  outbox: (partition: string) => `{p${partition}}:timers`,
  /** Entries of open calls that were trimmed from the log, by sequence number. */
  keptEntries: (partition: string) => `{p${partition}}:kept`,
  /** Progress of archiving and trimming of the partition: a hash, see libs/sealing. */
  archived: (partition: string) => `{p${partition}}:archived`,
  /** Lease of the process that archives the partition. */
  sealerLease: (partition: string) => `{p${partition}}:sealer`,
  /** Archive into which the log is trimmed; every reader of calls needs it. */
  archive: () => 'toolyard:archive',
  /** Calls that wait for a person, by the Redis time of the approval request. */
  pendingApprovals: (partition: string) => `{p${partition}}:approvals`,
  call: (callId: string) => `{p${partitionOf(callId)}}:call:${callId}`,
  /** Sequence numbers of the call's Updates, Progress and hook runs, with the lifetime of `call`. */
  updateIndex: (callId: string) => `{p${partitionOf(callId)}}:call:${callId}:updates`,
  /** Bytes of the open calls of a tenant. */
  openBytes: (partition: string, tenantId: string) => `{p${partition}}:open-bytes:${tenantId}`,
  blob: (callId: string, ref: string) => `{p${partitionOf(callId)}}:blob:${callId}:${ref}`,
  /** Children of the call. */
  children: (callId: string) => `{p${partitionOf(callId)}}:children:${callId}`,
  /** Journal of a sub-agent by turn: a hash (libs/sub-agents/src/journal). */
  agentJournal: (callId: string) => `{p${partitionOf(callId)}}:agent:${callId}`,
  /** Scope of an idempotency key: tenant, and session or none; the session is part of the hashed text. */
  idempotency: (partition: string, tenantId: string, scopedKey: string) => `{p${partition}}:idem:${tenantId}:${sha256Hex(scopedKey)}`,
  /** Applied commands, scoped to the call, so that equal ids of different calls do not collide. */
  command: (callId: string, commandId: string) => `{p${partitionOf(callId)}}:cmd:${callId}:${commandId}`,
  session: (tenantId: string, sessionId: string) => `session:${tenantId}:${sessionId}`,
  /** Data of the session's agents: todo list, task list, settings, discovered tools. */
  sessionData: (tenantId: string, sessionId: string) => `session-data:${tenantId}:${sessionId}`,
  /** Stored bytes of the sessions of a tenant, by entry, and their expiry. Both share a hash tag. */
  sessionBytes: (tenantId: string) => `{s-${tenantId}}:session-bytes`,
  sessionEnds: (tenantId: string) => `{s-${tenantId}}:session-ends`,
  /** The same of outputs of foreign workers. */
  outputBytes: (tenantId: string) => `{s-${tenantId}}:output-bytes`,
  outputEnds: (tenantId: string) => `{s-${tenantId}}:output-ends`,
  /** Marker of a cancelled session, with a new value for each cancel; expires. */
  sessionCancel: (tenantId: string, sessionId: string) => `session-cancel:${tenantId}:${sessionId}`,
  /** A batch of calls: a hash in its session's partition. */
  batch: (batchId: string) => `{p${partitionOf(batchId)}}:batch:${batchId}`,
  /** Open batches of the partition; the score is the end of their gateway's lease. */
  batches: (partition: string) => `{p${partition}}:batches`,
  /** Bytes of the open batches of a tenant, by id, and their sum under the empty name. */
  tenantBatches: (partition: string, tenantId: string) => `{p${partition}}:tenant-batches:${tenantId}`,
  /** Ended batches of the partition that are still stored, by their end. */
  endedBatches: (partition: string) => `{p${partition}}:ended-batches`,
  /** Background runs of a session, by the Redis time of their request. */
  backgroundRuns: (partition: string, tenantId: string, sessionId: string) => `{p${partition}}:background:${tenantId}:${sessionId}`,
  /** Sessions that agents of a session began: a hash of facts by id. */
  spawnedSessions: (tenantId: string, sessionId: string) => `spawned-sessions:${tenantId}:${sessionId}`,
  /** Last worker that ran code of the user, session epoch and language: its interpreter has the state. */
  interpreterOwner: (tenantId: string, sessionId: string, language: string, sessionEpoch: number, userId = '') =>
    `interpreter:${tenantId}:${sessionId}:${language}:${sessionEpoch}:${encodeURIComponent(userId)}`,
  /** Messages of people to a session that no batch has delivered yet. */
  steering: (partition: string, tenantId: string, sessionId: string) => `{p${partition}}:steer:${tenantId}:${sessionId}`,
  /** The last messages of people to a session, delivered or not. */
  steered: (partition: string, tenantId: string, sessionId: string) => `{p${partition}}:steered:${tenantId}:${sessionId}`,
  /** Bytes of both: a hash. */
  steeringBytes: (partition: string, tenantId: string, sessionId: string) => `{p${partition}}:steer-bytes:${tenantId}:${sessionId}`,
  /** Lock of the gateway that takes over batches of dead gateways. */
  batchSweeper: () => 'batch-sweeper',
  /** Pub/sub channel: a change of a batch that is not in the log. */
  batchChannel: () => 'toolyard:batch',
  /** Hooks that the worker of a call runs, by digest. */
  hookSet: (digest: string) => `hook-set:${digest}`,
  /** Answer of a hook in a session; `question` is a digest of the hook and its whole input. */
  hookAnswer: (tenantId: string, sessionId: string, question: string) => `hook-answer:${tenantId}:${sessionId}:${question}`,
  /**
   * Bytes of the answers of session hooks that a tenant has cached, and the answers by their end. Both share a hash
   * tag.
   */
  hookAnswerBytes: (tenantId: string) => `{h-${tenantId}}:hook-answer-bytes`,
  hookAnswerEnds: (tenantId: string) => `{h-${tenantId}}:hook-answer-ends`,
  /** Safety settings by digest, for the workers of calls that were accepted under them. */
  redactionSettings: (digest: string) => `safety:${digest}`,
  /** Definitions of tool sources for the workers, by `tenant/name`. All keys of sources share a hash tag: scripts change several. */
  sourceDefinitions: () => '{sources}:definitions',
  /** Rules for sources added over HTTP (`SourceRules`). */
  sourceRules: () => '{sources}:rules',
  /** Catalog entries by `tenant/name`, and the revision of each. */
  sourceEntries: () => '{sources}:entries',
  sourceRevisions: () => '{sources}:revisions',
  /** Accepted tools of a source by raw name: digests, and the whole definitions for differences. */
  sourcePins: (source: string) => `{sources}:pins:${source}`,
  sourcePinned: (source: string) => `{sources}:pinned:${source}`,
  /** Bytes of the accepted tools of the sources of a tenant, by `tenant/name`. */
  sourcePinnedBytes: (tenantId: string) => `{sources}:pinned-bytes:${tenantId}`,
  /** Lease that the announcer of a temporary source renews. */
  sourceAlive: (source: string) => `{sources}:alive:${source}`,
  /** Sealed OAuth tokens that a person granted to a source, by `tenant/name`. */
  sourceAuthorizations: () => '{sources}:authorizations',
  /** Authorization that a person has begun and not completed; `digest` of the state and of the person. */
  sourceAuthorizing: (digest: string) => `{sources}:authorizing:${digest}`,
  /** Lock of the process that renews the tokens of the source. */
  sourceRenewal: (source: string) => `{sources}:renewal:${source}`,
  /** Lease of the worker that reads the tools of the source for all. */
  sourceLease: (source: string) => `{sources}:lease:${source}`,
  /** Uploaded MCP bundle: a hash of its manifest, its size and its bytes in parts; and the sizes of a tenant's bundles, by digest. */
  uploadedBundle: (tenantId: string, sha256: string) => `{sources}:bundle:${tenantId}/${sha256}`,
  uploadedBundles: (tenantId: string) => `{sources}:bundles:${tenantId}`,
  /** Rises with each change of definitions, entries and pins. */
  sourceRevision: () => '{sources}:revision',
  /** Schedules of a tenant by id, and the result of the last due time of each. All share a hash tag: scripts change several. */
  schedules: (tenantId: string) => `{schedules}:of:${tenantId}`,
  scheduleRuns: (tenantId: string) => `{schedules}:runs:${tenantId}`,
  scheduleTenants: () => '{schedules}:tenants',
  /** API keys created over HTTP, by tenant and id, without their texts. All share a hash tag: scripts change several. */
  apiKeys: (tenantId: string) => `{keys}:of:${tenantId}`,
  apiKeyTenants: () => '{keys}:tenants',
  /** Revision of the API keys: a new text after each change. */
  apiKeyRevision: () => '{keys}:revision',
  /** Ids of API keys by the time of their last use, ms. */
  apiKeyUses: () => '{keys}:used',
  /** Login to the dashboard, by the SHA-256 of its cookie. All keys of logins share a hash tag: they change together. */
  login: (digest: string) => `{logins}:login:${digest}`,
  /** Logins of a tenant by their digests, for lists. */
  loginsOf: (tenantId: string) => `{logins}:of:${tenantId}`,
  /** Data to verify a login when it returns from the provider. */
  loginState: (digest: string) => `{logins}:state:${digest}`,
  /** Lock of the gateway that confirms the login with the provider. */
  loginRecheck: (digest: string) => `{logins}:recheck:${digest}`,
  /** Cursor of each webhook in the log, by `tenant/name`. All keys of webhooks share a hash tag: scripts change several. */
  webhookCursors: () => '{webhooks}:cursors',
  /** Lease of the gateway that delivers for the webhook. */
  webhookLease: (webhook: string) => `{webhooks}:lease:${webhook}`,
  webhookDeliveries: (webhook: string) => `{webhooks}:deliveries:${webhook}`,
  /** Deliveries by the time of their next try, or of their end, ms. */
  webhookDeliveriesIn: (webhook: string, state: 'waiting' | 'delivered' | 'dead') => `{webhooks}:${state}:${webhook}`,
  /** Views of lists that a key, or a person who has signed in, has saved: a hash by name. */
  savedViews: (tenantId: string, keyId: string) => `views:${tenantId}:${keyId}`,
  worker: (workerId: string) => `worker:${workerId}`,
  /** Request to drain this worker, with its actor. */
  workerDrain: (workerId: string) => `worker:${workerId}:drain`,
  workers: () => 'workers',
  /** Lock of the worker that sweeps due timers; only saves work. */
  sweeperLock: () => 'sweeper',
  /** Counters of a limit; all limits of a tenant share a hash tag, so that one script checks and takes them together. */
  limit: (tenantId: string, name: string) => `{l-${tenantId}}:${name}`,
  rateLimit: (keyId: string) => `rate:${keyId}`,
  /** Session of the Model Context Protocol before revision 2026-07-28: a hash of its owner and its pending requests. */
  mcpSession: (sessionId: string) => `mcp-session:${sessionId}`,
  /** Ids of the MCP sessions of an API key, by the time of their last use. */
  mcpSessionsOf: (tenantId: string, keyId: string) => `mcp-sessions:${tenantId}:${keyId}`,
  /** Key that signs state returned by MCP clients; created by the first gateway that needs it. */
  mcpStateKey: () => 'mcp-state-key',
  /** BullMQ's prefix of a queue: a hash tag of its own, so that all its keys are on one node of a cluster. */
  queuePrefix: (queue: string) => `{q-${queueWord(queue)}}`,
  /** BullMQ's name of a queue, shown by tools for BullMQ. */
  queueName: (queue: string) => `calls-${queueWord(queue)}`,
  /** BullMQ's name of the queue of requests to gateways. */
  gatewayRequestQueueName: () => 'agents',
  /** BullMQ's name of the queue of due times. */
  scheduleQueueName: () => 'schedules',
  /** Queue of calls of a pool for foreign workers of a source: a word for `queueName`. */
  workerQueue: (tenantId: string, source: string, pool: string) => `w-${pool}-${sha256Hex(`${tenantId}/${source}`).slice(0, 32)}`,
  /** Pause after a worker sent too much: no worker of the API key may connect. */
  workerPause: (tenantId: string, keyId: string) => `worker-pause:${tenantId}:${keyId}`,
  /** Gateways to which workers of an announced source are connected, by the expiry of the entry. */
  sourceGateways: (source: string) => `{sources}:gateways:${source}`,
  /** Pub/sub channel on which gateways forward requests of a polling worker, and the answers: by the id of the worker, or of the sender. */
  pollChannel: (id: string) => `toolyard:polls:${id}`,
  /** Pub/sub channel on which the transition script sends cancels of running calls to workers. */
  cancelChannel: () => 'toolyard:cancel',
  /** Pub/sub channel: a session was deleted. */
  sessionEndChannel: () => 'toolyard:session-end',
} as const;

/** Name of a queue: a pool of workers, or another word of the same form. */
function queueWord(queue: string): string {
  if (QUEUE_WORD.test(queue)) return queue;
  throw new Error(
    `"${queue.slice(0, 80)}" cannot name a queue: expected 1 to 128 letters, digits, ".", "_" or "-", beginning with a letter or digit.`,
  );
}

const QUEUE_WORD = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/** Formats an index as two digits, three from 100 on. */
export function partitionName(index: number): string {
  return String(index).padStart(2, '0');
}

/** Names of all partitions: `00`, `01`, and so on. */
export function partitionNames(count: number): string[] {
  return Array.from({ length: count }, (_, index) => partitionName(index));
}

/** Partition of a root (a session, a root call, or a hashed idempotency key) within its tenant. */
export function partitionOfRoot(tenantId: string, rootId: string, partitions: number): string {
  return partitionName(crc32(`${tenantId}/${rootId}`) % partitions);
}

export function partitionOf(callId: string): string {
  return callId.slice(0, callId.indexOf('-'));
}
