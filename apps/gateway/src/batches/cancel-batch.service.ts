import { Injectable } from '@nestjs/common';
import { ProblemError, type Batch, type CancelBody, type Principal } from '#contracts';
import { CancelCallService } from '../calls/cancel-call.service.js';
import { RedactionConfigService } from '../governance/redaction-config.service.js';
import { BatchReader } from './batch-reader.service.js';
import { BatchStore } from './batch-store.service.js';

const AT_ONCE = 100;

/**
 * Stops one batch, with or without a session: first the batch, so that it starts nothing more and aborts its running hooks,
 * then each of its calls that has not ended. The gateway that executes the batch stops the calls that it started meanwhile.
 * Safe to repeat: an ended batch is returned as it is.
 */
@Injectable()
export class CancelBatchService {
  constructor(
    private readonly reader: BatchReader,
    private readonly batches: BatchStore,
    private readonly cancelCall: CancelCallService,
    private readonly safety: RedactionConfigService,
  ) {}

  /** Returns the batch after the cancel, whose running calls end soon. Throws `resource_not_found` for a batch of another tenant. */
  async cancel(principal: Principal, batchId: string, request: CancelBody): Promise<Batch> {
    const { status } = await this.reader.read(principal, batchId);
    if (status === 'running') {
      const detail = request.reason === undefined ? 'The batch was cancelled' : this.safety.of(principal.tenantId).text(request.reason);
      await this.batches.stop(batchId, { reason: 'cancelled', detail });
    } else await this.batches.confirm(batchId);
    const { results } = await this.reader.read(principal, batchId);
    const open = results.flatMap(({ callId, status: state }) => (callId === undefined || state === 'ended' ? [] : [callId]));
    for (let from = 0; from < open.length; from += AT_ONCE)
      await Promise.all(
        open.slice(from, from + AT_ONCE).map((callId) => this.cancelCall.cancel(principal, callId, request).catch(unlessGone)),
      );
    return this.reader.read(principal, batchId);
  }
}

/** Ignores a call lost in a rollback of the log, which is not submitted again. */
function unlessGone(error: unknown): void {
  if (!(error instanceof ProblemError) || error.code !== 'resource_not_found') throw error;
}
