import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { ProblemError, type Call, type CancelBody, type Principal } from '#contracts';
import { EventLog, type Applied, type CallHead, type CommandGuard, type Refusal } from '#event-log';
import { GATEWAY_CONFIG, type GatewayConfig } from '../gateway.config.js';
import { CallReader } from './call-reader.service.js';
import { authorOf } from './gateway-author.js';
import { endWithout } from './new-call.js';

/** A call that streams updates changes its version all the time; each try reads it afresh. */
const TRIES = 20;

/**
 * Cancels a call, whoever holds it. Steps: read the head → decide by its status → write on the version that was read →
 * read the call. Safe to repeat: an ended call, or one on its way there, is answered as it is.
 * - waiting or queued: ends at once;
 * - running: the worker is told, stops the tool within the grace, and writes the End.
 */
@Injectable()
export class CancelCallService {
  constructor(
    private readonly reader: CallReader,
    private readonly log: EventLog,
    @Inject(GATEWAY_CONFIG) private readonly config: GatewayConfig,
  ) {}

  async cancel(principal: Principal, callId: string, request: CancelBody): Promise<Call> {
    for (let tries = 0; tries < TRIES; tries++) {
      const head = await this.reader.head(principal, callId);
      if (head.status === 'ended' || head.cancelRequested) return this.reader.read(principal, callId);
      const answer = await this.write(principal, head, request);
      if (answer.code === 'OK' || answer.code === 'REPLAY' || answer.code === 'ENDED') return this.reader.read(principal, callId);
    }
    throw new ProblemError('conflict', 'The call changed faster than it could be cancelled; the same request may be repeated', { callId });
  }

  private write(principal: Principal, head: CallHead, { reason, graceMs }: CancelBody): Promise<Applied | Refusal> {
    const guard: CommandGuard = { by: 'command', version: head.version, commandId: randomUUID() };
    const common = { callId: head.callId, guard, author: authorOf(this.config.name, principal) };
    if (head.status === 'running')
      return this.log.requestCancel({ ...common, data: { graceMs, ...(reason === undefined ? {} : { reason }) } });

    const end = endWithout(
      'cancelled',
      { code: 'cancelled', message: reason === undefined ? 'Cancelled' : `Cancelled: ${reason}`, retryable: false },
      'Cancelled',
    );
    return this.log.end({ ...common, data: { ...end, attempts: head.attempt, stopped: { how: 'not_started', tookMs: 0 } } });
  }
}
