import { Inject, Injectable } from '@nestjs/common';
import { CallId, ProblemError, type Call, type Principal } from '#contracts';
import { CallReader } from '../../calls/read/call-reader.service.js';
import { eventOrigin } from '../../platform/event-origin.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../../platform/gateway.config.js';

/** Calls of the requesting key. Calls of other keys, also of the same tenant, are answered like unknown ones. */
@Injectable()
export class OwnedCalls {
  constructor(
    private readonly reader: CallReader,
    @Inject(GATEWAY_CONFIG) private readonly config: Pick<GatewayConfig, 'name'>,
  ) {}

  /** Undefined unless the text is the id of a call of this key. */
  async find(principal: Principal, callId: string): Promise<Call | undefined> {
    if (!CallId.safeParse(callId).success) return undefined;
    try {
      const { requester } = await this.reader.submissionInfo(principal, callId);
      return requester === eventOrigin(this.config.name, principal).actor ? await this.reader.read(principal, callId) : undefined;
    } catch (error) {
      if (error instanceof ProblemError && error.code === 'resource_not_found') return undefined;
      throw error;
    }
  }
}
