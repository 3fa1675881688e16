import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { ProblemError, type Call, type DecisionBody, type EndData, type Principal } from '#contracts';
import { EventLog } from '#event-log';
import { BullCallQueue } from '#queue';
import { ToolRegistry } from '#tools';
import { GATEWAY_CONFIG, type GatewayConfig } from '../gateway.config.js';
import { CallReader } from './call-reader.service.js';
import { dispatchCall } from './dispatch-call.js';
import { authorOf } from './gateway-author.js';
import { digestOf, endWithout } from './new-call.js';

/**
 * A person allows or denies a call that waits. Steps: the call waits → what would run now is what was asked about →
 * write on the version that was read → dispatch when allowed → read the call.
 *
 * The approval is bound to the digest of tool, version and canonical arguments, and is used once. Of two deciders at
 * once one gets `conflict`.
 */
@Injectable()
export class DecideApprovalService {
  constructor(
    private readonly reader: CallReader,
    private readonly log: EventLog,
    private readonly queue: BullCallQueue,
    private readonly tools: ToolRegistry,
    @Inject(GATEWAY_CONFIG) private readonly config: GatewayConfig,
  ) {}

  async decide(principal: Principal, callId: string, body: DecisionBody): Promise<Call> {
    if (body.scope !== 'once') throw new ProblemError('not_implemented', `Expected the scope once; ${body.scope} is not there yet`);
    const head = await this.reader.head(principal, callId);
    if (head.status !== 'waiting_approval')
      throw new ProblemError('conflict', `The call is ${head.status}: it does not wait for a decision`, { callId });
    const digest = await this.digestNow(principal, callId);

    const answer = await this.log.decideApproval({
      callId,
      guard: { by: 'command', version: head.version, commandId: randomUUID() },
      data: { decision: body.decision, scope: body.scope, digest, ...(body.reason === undefined ? {} : { reason: body.reason }) },
      author: authorOf(this.config.name, principal),
      ...(body.decision === 'deny' ? { end: denial(body.reason) } : {}),
    });
    if (answer.code !== 'OK' && answer.code !== 'REPLAY')
      throw new ProblemError(
        'conflict',
        'The call was decided, cancelled or expired meanwhile, or its tool has changed since the question was asked',
        { callId },
      );
    if (body.decision === 'allow') dispatchCall(this.queue, head.pool, callId, head.attempt + 1, head.priority, head.meta.tenantId);
    return this.reader.read(principal, callId);
  }

  /** The digest of what would run now. When the tool changed since the question was asked it differs, and the log refuses. */
  private async digestNow(principal: Principal, callId: string): Promise<string> {
    const { tool, arguments: args } = await this.reader.read(principal, callId);
    return digestOf(tool, this.tools.resolve(tool)?.version ?? 'none', args);
  }
}

function denial(reason: string | undefined): EndData {
  return endWithout('denied', {
    code: 'approval_denied',
    message: reason === undefined ? 'A person denied this call' : `A person denied this call: ${reason}`,
    retryable: false,
  });
}
