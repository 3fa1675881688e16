import { Injectable } from '@nestjs/common';
import { ResourceNotFoundError, type ReadResourceResult } from '@modelcontextprotocol/server';
import type { Principal } from '#contracts';
import { CallReader } from '../../calls/read/call-reader.service.js';
import { outputUri } from './call-result.js';
import { OwnedCalls } from './owned-calls.service.js';

const CALL_IN_URI = /^toolyard:\/\/calls\/([0-9A-Z-]{1,64})\/output$/;

/** Whole outputs of ended calls, linked from results that were cut. Only for the key that made the call. */
@Injectable()
export class OutputResources {
  constructor(
    private readonly owned: OwnedCalls,
    private readonly reader: CallReader,
  ) {}

  /** @throws ResourceNotFoundError unless the URI is the output of an ended call of this key */
  async read(principal: Principal, uri: string): Promise<ReadResourceResult> {
    const callId = CALL_IN_URI.exec(uri)?.[1];
    const call = callId === undefined ? undefined : await this.owned.find(principal, callId);
    if (call?.status !== 'ended') throw new ResourceNotFoundError(uri);
    const text = (await this.reader.output(principal, call.id)).toString();
    return { contents: [{ uri: outputUri(call.id), mimeType: 'text/plain', text }] };
  }
}
