import { Injectable } from '@nestjs/common';
import { ProblemError, type Batch, type BatchResult, type Call, type Principal, type Scope } from '#contracts';
import { CallStore } from '#event-log';
import { RedactionConfigService } from '../governance/redaction-config.service.js';
import { ApiKeyStore } from '../auth/api-key-store.service.js';
import { ShutdownState } from '../platform/shutdown-state.service.js';
import { NotificationChannel } from '../platform/notification-channel.service.js';
import type { BatchRecord } from './batch-record.js';
import { BatchStore } from './batch-store.service.js';

/** Fields of a call in a batch's result. */
export type CallForResult = Pick<Call, 'id' | 'tool' | 'toolCallId' | 'status' | 'outcome' | 'result' | 'error'>;
export type SeenCalls = (callId: string) => CallForResult | undefined;

export interface ReadEndedOptions {
  /** Scope that the key must keep. Default `read`. */
  readonly scope?: Scope;
  readonly seen?: SeenCalls;
  /** True if the caller knows that the batch is of the principal's tenant. */
  readonly isOwn?: boolean;
}

/** Reads batches. Ids of another tenant are answered like unknown ones. */
@Injectable()
export class BatchReader {
  constructor(
    private readonly batches: BatchStore,
    private readonly calls: CallStore,
    private readonly notifications: NotificationChannel,
    private readonly drain: ShutdownState,
    private readonly safety: RedactionConfigService,
    private readonly apiKeys: ApiKeyStore,
  ) {}

  /** `seen`: ended call from events in memory, which saves reading it. */
  async read(principal: Principal, batchId: string, seen: SeenCalls = () => undefined): Promise<Batch> {
    const record = await this.record(principal, batchId);
    const ids = [...record.callIds];
    const found = await Promise.all(ids.map(async ([, callId]) => seen(callId) ?? this.calls.read(callId)));
    const byIndex = new Map(ids.map(([index], n) => [index, found[n]]));
    const redaction = this.safety.of(principal.tenantId);
    return batchOf(record, byIndex, (name) => redaction.identifier(name));
  }

  /**
   * Resolves with the batch when it has ended, when the time is over, or when this process drains. Rejects with
   * `unauthenticated` or `forbidden` if the key or its `scope` is revoked meanwhile.
   */
  async readEnded(
    principal: Principal,
    batchId: string,
    waitMs: number,
    { scope = 'read', seen, isOwn = false }: ReadEndedOptions = {},
  ): Promise<Batch> {
    let unsubscribe = () => {};
    let unwatchKey = () => {};
    const ended = new Promise<void>((resolve) => {
      unsubscribe = this.listenForEnd(batchId, waitMs, resolve);
      unwatchKey = this.apiKeys.watch(principal, scope, () => resolve());
    });
    try {
      // Without the arguments of all its calls, which a record has until its end.
      const hasEnded = isOwn ? await this.batches.hasEnded(batchId) : (await this.record(principal, batchId)).endedAt !== undefined;
      if (!hasEnded) await ended;
      const refusal = this.apiKeys.rejection(principal, scope);
      if (refusal !== undefined) throw refusal;
      return await this.read(principal, batchId, seen);
    } finally {
      unsubscribe();
      unwatchKey();
    }
  }

  private async record(principal: Principal, batchId: string): Promise<BatchRecord> {
    const record = await this.batches.load(batchId);
    if (record?.doc.principal.tenantId !== principal.tenantId) throw new ProblemError('resource_not_found', 'No batch with this id');
    return record;
  }

  /** Calls `done` at the end of the batch, of the time, or of this process. Returns a function that stops listening. */
  private listenForEnd(batchId: string, waitMs: number, done: () => void): () => void {
    const look = () => this.batches.hasEnded(batchId).then((hasEnded) => hasEnded && done(), done);
    const unsubscribe = this.notifications.subscribe(batchId, () => void look());
    const timer = setTimeout(done, waitMs);
    this.drain.signal.addEventListener('abort', done, { once: true });
    if (this.drain.draining) done();
    return () => {
      unsubscribe();
      clearTimeout(timer);
      this.drain.signal.removeEventListener('abort', done);
    };
  }
}

/** Batch for the API, from its record and its calls; `shown` redacts names that callers chose. Pure. */
export function batchOf(
  record: BatchRecord,
  found: ReadonlyMap<number, CallForResult | undefined>,
  shown: (name: string) => string,
): Batch {
  const { doc, calls, submittedAt, endedAt, stop, steering } = record;
  const { id, strategy, onFailure, sessionId, agentId, userId, principal } = doc;
  return {
    id,
    status: endedAt === undefined ? 'running' : 'ended',
    strategy,
    onFailure,
    tenantId: principal.tenantId,
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(agentId === undefined ? {} : { agentId }),
    ...(userId === undefined ? {} : { userId }),
    submittedAt: new Date(submittedAt).toISOString(),
    ...(endedAt === undefined ? {} : { endedAt: new Date(endedAt).toISOString() }),
    ...(stop === undefined ? {} : { stopped: stop }),
    results: doc.readOnly.map((_, index) => resultOf(index, found.get(index), calls[index], shown)),
    steering: [...steering],
  };
}

function resultOf(
  index: number,
  call: CallForResult | undefined,
  body: BatchRecord['calls'][number] | undefined,
  shown: (name: string) => string,
): BatchResult {
  const toolCallId = call?.toolCallId ?? body?.toolCallId;
  const tool = call?.tool ?? shown(body?.tool ?? '');
  const common = { index, tool, ...(toolCallId === undefined ? {} : { toolCallId: shown(toolCallId) }) };
  if (call === undefined) return { ...common, status: 'pending' };
  const { id, status, outcome, result, error } = call;
  return {
    ...common,
    callId: id,
    status,
    ...(outcome === undefined ? {} : { outcome }),
    ...(result === undefined ? {} : { result }),
    ...(error === undefined ? {} : { error }),
  };
}
