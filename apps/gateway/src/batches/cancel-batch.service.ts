import { Injectable } from '@nestjs/common';
import { ProblemError, type Batch, type CancelBody, type Principal } from '#contracts';
import { CancelCallService } from '../calls/cancel-call.service.js';
import { RedactionConfigService } from '../governance/redaction-config.service.js';
import { BatchReader } from './batch-reader.service.js';
import { BatchStore } from './batch-store.service.js';

const AT_ONCE = 100;

/**
 * Stops one batch, with or without a session. First the batch, so that it starts nothing more and gives up hooks that are
 * being asked, then each of its calls that has not ended; the gateway that brings the batch forward stops what it started
 * in between. Safe to repeat: a batch that has ended is answered as it is.
 */
@Injectable()
export class CancelBatchService {
  constructor(
    private readonly reader: BatchReader,
    private readonly batches: BatchStore,
    private readonly cancelCall: CancelCallService,
    private readonly safety: RedactionConfigService,
  ) {}

  /** The batch as it is then: calls that run are on their way to their end. Throws `resource_not_found` for a batch of another tenant. */
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

/** A call that was lost with a rollback of the log is not submitted again. */
function unlessGone(error: unknown): void {
  if (!(error instanceof ProblemError) || error.code !== 'resource_not_found') throw error;
}
