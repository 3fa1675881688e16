import { Injectable } from '@nestjs/common';
import canonicalize from 'canonicalize';
import type { Batch, Dialect, Principal, SubmitBatchBody } from '#contracts';
import { EventLog } from '#event-log';
import { sha256Hex } from '#redis';
import { ToolRegistry } from '#tool-sdk';
import { agentOf } from '../auth/agent-of.js';
import { repeaterMark } from '../auth/repeater-mark.js';
import { userOf } from '../auth/user-of.js';
import { issuerOfKeyId } from '../auth/tokens/token-principal.js';
import { idempotencyKeyReused } from '../platform/http/rejection.js';
import { BeforeHooks } from '../calls/admission/before-hooks.service.js';
import { canonicalCall, executionIn } from '../calls/admission/canonical-call.js';
import { PolicyConfigService } from '../governance/policy-config.service.js';
import { MemoryGuard } from '../platform/memory-guard.service.js';
import { SessionStore } from '../sessions/session-store.service.js';
import type { Verdict } from './batch.decider.js';
import { BatchReader } from './batch-reader.service.js';
import { newRecord, type BatchDefinition } from './batch-record.js';
import { BatchCoordinator } from './batch-coordinator.service.js';
import { BatchStore, type BatchIdempotency } from './batch-store.service.js';

export interface SubmitBatchOptions {
  readonly idempotencyKey?: string | undefined;
  readonly traceparent?: string | undefined;
  /** Longest wait for the end of the batch before the response, in milliseconds. */
  readonly waitMs?: number | undefined;
}

/** Accepts the calls of one model turn. */
@Injectable()
export class SubmitBatchService {
  constructor(
    private readonly hooks: BeforeHooks,
    private readonly tools: ToolRegistry,
    private readonly log: EventLog,
    private readonly store: BatchStore,
    private readonly runs: BatchCoordinator,
    private readonly reader: BatchReader,
    private readonly policyConfig: PolicyConfigService,
    private readonly sessions: SessionStore,
    private readonly memory: MemoryGuard,
  ) {}

  /**
   * Steps:
   *
   * 1. reject the batch if Redis has no room: later, its calls wait until there is
   * 2. abort: evaluate every call and run its hooks, since one rejected call blocks all others
   * 3. store the batch: durable from here on, whatever happens to this process
   * 4. execute the batch; not awaited, and another gateway continues if this process ends
   * 5. respond, at once or at the end of the batch
   *
   * A rejected call is a result of the batch, not an error of the request.
   */
  async submit(principal: Principal, body: SubmitBatchBody, { idempotencyKey, traceparent, waitMs }: SubmitBatchOptions): Promise<Batch> {
    const { sessionId, agentId } = body;
    this.memory.check('normal');
    const session = await this.sessions.state(principal.tenantId, sessionId);
    const userId = userOf(principal, body.userId, session.userId);
    const own = session.dialect ?? principal.dialect ?? 'core';
    const { policy } = this.policyConfig.of(principal.tenantId, agentOf(principal, agentId));
    // Fixes the dialect of each call, which a later change of the session must not alter.
    const calls = own === 'core' ? body.calls : body.calls.map((call) => ({ ...call, dialect: call.dialect ?? own }));
    const execution = executionIn(commonDialect(calls), policy.execution);
    const { onFailure = execution.onFailure, strategy = session.strategy ?? execution.strategy } = body;
    const idempotency = idempotencyOf(principal, body, idempotencyKey);
    const rootId = sessionId ?? (idempotency === undefined ? undefined : `k:${sha256Hex(idempotency.scopedKey)}`);
    const batchId = this.log.newCallId(principal.tenantId, rootId);
    const doc: BatchDefinition = {
      v: 1,
      id: batchId,
      principal: withoutTokenEnd(principal),
      ...(sessionId === undefined ? {} : { sessionId }),
      ...(agentId === undefined ? {} : { agentId }),
      ...(userId === undefined ? {} : { userId }),
      ...(traceparent === undefined ? {} : { traceparent }),
      strategy,
      onFailure,
      readOnly: calls.map((call) => this.isReadOnly(principal.tenantId, call)),
      verdicts: onFailure === 'isolate' ? calls.map(() => 'allow') : await this.verdictsOf(principal, { ...body, calls }, batchId),
    };
    const before = await this.store.create(doc, calls, idempotency);
    if (before?.same === false) throw idempotencyKeyReused(idempotencyKey);
    const id = before?.id ?? doc.id;
    const record = before === undefined ? newRecord(doc, calls) : undefined;
    const run = await this.runs.adopt(id, { isAwaited: waitMs !== undefined, record }).catch(() => undefined); // The sweep of any gateway finds it.
    if (waitMs === undefined) return this.reader.read(principal, id);
    try {
      return await this.reader.readEnded(principal, id, waitMs, { scope: 'submit', seen: (callId) => run?.endedCall(callId), isOwn: true });
    } finally {
      run?.forgetEnded();
    }
  }

  private isReadOnly(tenantId: string, call: SubmitBatchBody['calls'][number]): boolean {
    const tools = this.tools.for(tenantId);
    return tools.resolve(canonicalCall(tools, call, { dialect: call.dialect }).body.tool)?.tier === 'read_only';
  }

  private verdictsOf(principal: Principal, { sessionId, agentId, userId, calls }: SubmitBatchBody, batchId: string): Promise<Verdict[]> {
    return Promise.all(
      calls.map(async (call) => {
        if (isMalformed(call.arguments)) return 'malformed';
        const { rejection, decision } = await this.hooks.dryRun(principal, { ...call, sessionId, agentId, userId }, batchId);
        if (rejection !== undefined) return 'refused';
        return decision.effect === 'ask' ? 'ask' : 'allow';
      }),
    );
  }
}

/** Dialect of all calls of the batch; `core` if they differ. */
function commonDialect(calls: SubmitBatchBody['calls']): Dialect {
  const [first = 'core', ...others] = new Set(calls.map(({ dialect }) => dialect));
  return others.length === 0 ? first : 'core';
}

/** Identity of the idempotency key in its tenant and session; `bk:` separates it from those of calls. */
function idempotencyOf(principal: Principal, body: SubmitBatchBody, key: string | undefined): BatchIdempotency | undefined {
  return key === undefined
    ? undefined
    : {
        scopedKey: `${body.sessionId ?? ''}/bk:${key}`,
        requestSha256: sha256Hex(canonicalize({ body, ...repeaterMark(principal, body) }) ?? ''),
      };
}

/** True for arguments that are not JSON. */
function isMalformed(args: unknown): boolean {
  if (typeof args !== 'string' || args.trim() === '') return false;
  try {
    JSON.parse(args);
    return false;
  } catch {
    return true;
  }
}

/** Principal without expiry of its token: an accepted batch continues, since its approvals may outlast the token. */
function withoutTokenEnd(principal: Principal): Principal {
  if (issuerOfKeyId(principal.keyId) === undefined) return principal;
  const { expiresAt: _, ...lasting } = principal;
  return lasting;
}
