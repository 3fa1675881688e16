import { crc32 } from 'node:zlib';
import { sha256Hex } from './sha256-hex.js';

/**
 * Every Redis key of Toolyard. All keys of one partition share the hash tag `{pNN}`, so one script may touch them on a
 * cluster; the queue of a pool has a tag of its own.
 */
export const keys = {
  /** Number of partitions and log format of this installation: written once, checked at every start. */
  logMetadata: () => 'toolyard:installation',
  /** Gateways and workers that run, each as JSON, by the Redis time of its last heartbeat. */
  processes: () => 'toolyard:processes',
  /** The newest protocol by which the data was written, and the oldest that can read it. */
  dataProtocol: () => 'toolyard:protocol',
  log: (partition: string) => `{p${partition}}:log`,
  seq: (partition: string) => `{p${partition}}:seq`,
  epoch: (partition: string) => `{p${partition}}:epoch`,
  /** The replication history of the master that carried the partition last; see `noticeFailover`. */
  history: (partition: string) => `{p${partition}}:history`,
  /** Workers that the log has announced and not reported as gone. */
  announcedWorkers: (partition: string) => `{p${partition}}:workers`,
  outbox: (partition: string) => `{p${partition}}:timers`,
  /** Entries of calls that have not ended, by their sequence numbers, from before the first entry that the log still has. */
  keptEntries: (partition: string) => `{p${partition}}:kept`,
  /** How far the partition is archived and trimmed: a hash, see libs/sealing. */
  archived: (partition: string) => `{p${partition}}:archived`,
  /** Held by the process that archives the partition now. */
  sealerLease: (partition: string) => `{p${partition}}:sealer`,
  /** Which archive the log is trimmed into; every reader of calls needs it. */
  archive: () => 'toolyard:archive',
  /** Calls that wait for a person, by the Redis time at which they were asked about. */
  pendingApprovals: (partition: string) => `{p${partition}}:approvals`,
  call: (callId: string) => `{p${partitionOf(callId)}}:call:${callId}`,
  /** Sequence numbers of the call's Updates, Progress and hook runs. It is kept exactly as long as `call`. */
  updateIndex: (callId: string) => `{p${partitionOf(callId)}}:call:${callId}:updates`,
  /** Bytes of the calls of a tenant that have not ended. */
  openBytes: (partition: string, tenantId: string) => `{p${partition}}:open-bytes:${tenantId}`,
  blob: (callId: string, ref: string) => `{p${partitionOf(callId)}}:blob:${callId}:${ref}`,
  /** The calls that this call made. */
  children: (callId: string) => `{p${partitionOf(callId)}}:children:${callId}`,
  /** What a sub-agent has done so far, by turn: a hash (libs/agents/src/journal). */
  agentJournal: (callId: string) => `{p${partitionOf(callId)}}:agent:${callId}`,
  /** The scope of an idempotency key is (tenant, session or none); the session is part of what is hashed. */
  idempotency: (partition: string, tenantId: string, scopedKey: string) => `{p${partition}}:idem:${tenantId}:${sha256Hex(scopedKey)}`,
  /** Scoped to the call, so that equal ids for different calls never answer for each other. */
  command: (callId: string, commandId: string) => `{p${partitionOf(callId)}}:cmd:${callId}:${commandId}`,
  session: (tenantId: string, sessionId: string) => `session:${tenantId}:${sessionId}`,
  /** What the agents of the session keep in it: todo list, task list, settings, tools that they found. */
  sessionData: (tenantId: string, sessionId: string) => `session-data:${tenantId}:${sessionId}`,
  /** Bytes that Redis keeps of the sessions of a tenant, by entry, and until when it does. Both share a hash tag. */
  sessionBytes: (tenantId: string) => `{s-${tenantId}}:session-bytes`,
  sessionEnds: (tenantId: string) => `{s-${tenantId}}:session-ends`,
  /** There for a while after the session was cancelled, another one each time. */
  sessionCancel: (tenantId: string, sessionId: string) => `session-cancel:${tenantId}:${sessionId}`,
  /** A batch of calls: a hash in its session's partition. */
  batch: (batchId: string) => `{p${partitionOf(batchId)}}:batch:${batchId}`,
  /** Batches of the partition that have not ended; the score is until when their gateway looks after them. */
  batches: (partition: string) => `{p${partition}}:batches`,
  /** Bytes of the batches of a tenant that have not ended, by their ids, and their sum under the empty name. */
  tenantBatches: (partition: string, tenantId: string) => `{p${partition}}:tenant-batches:${tenantId}`,
  /** Batches of the partition that have ended and are still kept, by their end. */
  endedBatches: (partition: string) => `{p${partition}}:ended-batches`,
  /** Background runs of a session, by the Redis time at which they were asked for. */
  backgroundRuns: (partition: string, tenantId: string, sessionId: string) => `{p${partition}}:background:${tenantId}:${sessionId}`,
  /** Sessions that agents of a session began: a hash of what is known of each, by its id. */
  spawnedSessions: (tenantId: string, sessionId: string) => `spawned-sessions:${tenantId}:${sessionId}`,
  /** Which worker ran code of a user of this life of a session in this language last: its interpreter has the state. */
  interpreterOwner: (tenantId: string, sessionId: string, language: string, sessionEpoch: number, userId = '') =>
    `interpreter:${tenantId}:${sessionId}:${language}:${sessionEpoch}:${encodeURIComponent(userId)}`,
  /** Messages of people to a session that no batch has taken yet. */
  steering: (partition: string, tenantId: string, sessionId: string) => `{p${partition}}:steer:${tenantId}:${sessionId}`,
  /** The last messages of people to a session, taken or not. */
  steered: (partition: string, tenantId: string, sessionId: string) => `{p${partition}}:steered:${tenantId}:${sessionId}`,
  /** Bytes of both: a hash. */
  steeringBytes: (partition: string, tenantId: string, sessionId: string) => `{p${partition}}:steer-bytes:${tenantId}:${sessionId}`,
  /** Held by the gateway that looks for batches of dead gateways now. */
  batchSweeper: () => 'batch-sweeper',
  /** Pub/sub channel: something happened to this batch that its log cannot tell. */
  batchChannel: () => 'toolyard:batch',
  /** The hooks that the worker of a call runs, by their digest. */
  hookSet: (digest: string) => `hook-set:${digest}`,
  /** What a hook answered in a session; `question` is a digest of the hook and its whole input. */
  hookAnswer: (tenantId: string, sessionId: string, question: string) => `hook-answer:${tenantId}:${sessionId}:${question}`,
  /** Safety settings by their digest, for the workers of calls that were accepted under them. */
  redactionSettings: (digest: string) => `safety:${digest}`,
  /** Definitions of tool sources for the workers, by `tenant/name`. All keys of sources share a hash tag: scripts change several. */
  sourceDefinitions: () => '{sources}:definitions',
  /** What sources added over HTTP may do (`SourceRules`). */
  sourceRules: () => '{sources}:rules',
  /** Catalog entries by `tenant/name`, and the revision of each. */
  sourceEntries: () => '{sources}:entries',
  sourceRevisions: () => '{sources}:revisions',
  /** What was accepted of the tools of a source, by their raw name: digests, and the whole for differences. */
  sourcePins: (source: string) => `{sources}:pins:${source}`,
  sourcePinned: (source: string) => `{sources}:pinned:${source}`,
  /** Bytes of what was accepted of the sources of a tenant, by `tenant/name`. */
  sourcePinnedBytes: (tenantId: string) => `{sources}:pinned-bytes:${tenantId}`,
  /** There while the announcer of a source that may vanish renews it. */
  sourceAlive: (source: string) => `{sources}:alive:${source}`,
  /** Sealed OAuth tokens that a person let a source have, by `tenant/name`. */
  sourceAuthorizations: () => '{sources}:authorizations',
  /** An authorization that a person has begun, until they come back; `digest` of the state and of who they are. */
  sourceAuthorizing: (digest: string) => `{sources}:authorizing:${digest}`,
  /** Held by the process that renews the tokens of the source now. */
  sourceRenewal: (source: string) => `{sources}:renewal:${source}`,
  /** Held by the worker that reads the tools of the source for all. */
  sourceLease: (source: string) => `{sources}:lease:${source}`,
  /** An uploaded MCP bundle: a hash of its manifest, its size and its bytes in parts; and the sizes of those of a tenant, by digest. */
  uploadedBundle: (tenantId: string, sha256: string) => `{sources}:bundle:${tenantId}/${sha256}`,
  uploadedBundles: (tenantId: string) => `{sources}:bundles:${tenantId}`,
  /** Rises with each change of definitions, entries and pins. */
  sourceRevision: () => '{sources}:revision',
  /** Schedules of a tenant by their id, and what became of the last due time of each. All share a hash tag: scripts change several. */
  schedules: (tenantId: string) => `{schedules}:of:${tenantId}`,
  scheduleRuns: (tenantId: string) => `{schedules}:runs:${tenantId}`,
  scheduleTenants: () => '{schedules}:tenants',
  /** API keys that were made over HTTP, by tenant and id, without their texts. All share a hash tag: scripts change several. */
  apiKeys: (tenantId: string) => `{keys}:of:${tenantId}`,
  apiKeyTenants: () => '{keys}:tenants',
  /** Another text after each change of such a key. */
  apiKeyRevision: () => '{keys}:revision',
  /** Ids of API keys by the time of their last use, ms. */
  apiKeyUses: () => '{keys}:used',
  /** A login to the dashboard, by the SHA-256 of what its cookie holds. All keys of logins share a hash tag: they change together. */
  login: (digest: string) => `{logins}:login:${digest}`,
  /** Logins of a tenant by their digests, for lists. */
  loginsOf: (tenantId: string) => `{logins}:of:${tenantId}`,
  /** What a login that has begun at the provider is checked by when it comes back. */
  loginState: (digest: string) => `{logins}:state:${digest}`,
  /** Held by the gateway that asks the provider about the login again. */
  loginRecheck: (digest: string) => `{logins}:recheck:${digest}`,
  /** How far each webhook has read the log, by `tenant/name`. All keys of webhooks share a hash tag: scripts change several. */
  webhookCursors: () => '{webhooks}:cursors',
  /** Held by the gateway that sends for the webhook now. */
  webhookLease: (webhook: string) => `{webhooks}:lease:${webhook}`,
  webhookDeliveries: (webhook: string) => `{webhooks}:deliveries:${webhook}`,
  /** Deliveries by the time of their next try, or of their end, ms. */
  webhookDeliveriesIn: (webhook: string, state: 'waiting' | 'delivered' | 'dead') => `{webhooks}:${state}:${webhook}`,
  worker: (workerId: string) => `worker:${workerId}`,
  /** Who asked this worker to take no more calls. */
  workerDrain: (workerId: string) => `worker:${workerId}:drain`,
  workers: () => 'workers',
  /** Held by the worker that looks after due timers now; others may, too. */
  sweeperLock: () => 'sweeper',
  /** Whose calls are counted; all limits of a tenant share a hash tag, so that one script checks and takes them together. */
  limit: (tenantId: string, name: string) => `{l-${tenantId}}:${name}`,
  rateLimit: (keyId: string) => `rate:${keyId}`,
  /** A session of the Model Context Protocol before revision 2026-07-28: a hash of whose it is and what is under way in it. */
  mcpSession: (sessionId: string) => `mcp-session:${sessionId}`,
  /** Ids of such sessions of one key, by the time of their last use. */
  mcpSessionsOf: (tenantId: string, keyId: string) => `mcp-sessions:${tenantId}:${keyId}`,
  /** The key that signs what MCP clients bring back; made by the first gateway that needs it. */
  mcpStateKey: () => 'mcp-state-key',
  /** BullMQ's prefix of a queue: a hash tag of its own, so all its keys live on one node of a cluster. */
  queuePrefix: (queue: string) => `{q-${queueWord(queue)}}`,
  /** BullMQ's name of a queue, by which tools for BullMQ tell queues apart. */
  queueName: (queue: string) => `calls-${queueWord(queue)}`,
  /** BullMQ's name of the queue in which sub-agents ask gateways. */
  agentQueueName: () => 'agents',
  /** BullMQ's name of the queue of due times. */
  scheduleQueueName: () => 'schedules',
  /** The queue of calls of a pool that foreign workers of a source run: a word for `queueName`. */
  workerQueue: (tenantId: string, source: string, pool: string) => `w-${pool}-${sha256Hex(`${tenantId}/${source}`).slice(0, 32)}`,
  /** There while no worker of the API key may connect, since one sent too much. */
  workerPause: (tenantId: string, keyId: string) => `worker-pause:${tenantId}:${keyId}`,
  /** The gateways to which workers of an announced source are connected, by the time until when that holds. */
  sourceGateways: (source: string) => `{sources}:gateways:${source}`,
  /** Pub/sub channel on which gateways pass on requests of a worker that polls, and their answers: by the id of the worker, or of who asks. */
  pollChannel: (id: string) => `toolyard:polls:${id}`,
  /** Pub/sub channel on which the transition script tells workers that a running call shall stop. */
  cancelChannel: () => 'toolyard:cancel',
  /** Pub/sub channel: a session was deleted. */
  sessionEndChannel: () => 'toolyard:session-end',
} as const;

/** The word that names a queue: a pool of workers, or anything else that is written like one. */
function queueWord(queue: string): string {
  if (QUEUE_WORD.test(queue)) return queue;
  throw new Error(
    `"${queue.slice(0, 80)}" cannot name a queue: expected 1 to 128 letters, digits, ".", "_" or "-", beginning with a letter or digit.`,
  );
}

const QUEUE_WORD = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/** Two digits, three from 100 partitions on. */
export function partitionName(index: number): string {
  return String(index).padStart(2, '0');
}

/** The names of all partitions: `00`, `01`, and so on. */
export function partitionNames(count: number): string[] {
  return Array.from({ length: count }, (_, index) => partitionName(index));
}

/** The partition of a root (a session, a root call, or a hashed idempotency key) within its tenant. */
export function partitionOfRoot(tenantId: string, rootId: string, partitions: number): string {
  return partitionName(crc32(`${tenantId}/${rootId}`) % partitions);
}

export function partitionOf(callId: string): string {
  return callId.slice(0, callId.indexOf('-'));
}
