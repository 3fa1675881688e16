import { isUtf8 } from 'node:buffer';
import { Injectable } from '@nestjs/common';
import { ProblemError, WORKER_LIMITS, type Principal, type WorkerOutput } from '#contracts';
import { BlobStore, CallStore } from '#event-log';
import { sha256Hex } from '#redis';
import { checkReprDigest } from '../../platform/http/repr-digest.js';
import { SessionRoom } from '../../sessions/session-room.service.js';
import { claimPrefix } from './claim-token.js';

/** Life of an output; a worker sends `finish` soon after it. */
const KEPT_SECONDS = 3_600;
/** Outputs that are checked when there is no room for another. */
const CHECKED = 32;

/** Attempt of an output, and the source of its worker. */
export interface OutputPlace {
  readonly callId: string;
  readonly fence: number;
  readonly worker: string;
}

/**
 * Outputs of foreign workers that are too large for a frame: one an attempt, kept until its `finish` names it, and
 * counted for the tenant until then. One that no `finish` names expires, or is deleted after its attempt when there is
 * no room for another.
 */
@Injectable()
export class WorkerOutputs {
  constructor(
    private readonly store: CallStore,
    private readonly blobs: BlobStore,
    private readonly room: SessionRoom,
  ) {}

  /** `digest`: the header Repr-Digest. @throws ProblemError when the attempt is not one of this key that runs, or the tenant has no room */
  async put({ tenantId, keyId }: Principal, place: OutputPlace, body: Buffer, digest: string | undefined): Promise<WorkerOutput> {
    const { callId, fence, worker } = place;
    if (body.byteLength > WORKER_LIMITS.outputBytes)
      throw new ProblemError('payload_too_large', `Expected at most ${WORKER_LIMITS.outputBytes} bytes; got ${body.byteLength}`);
    if (!isUtf8(body)) throw new ProblemError('invalid_request', 'Expected text in UTF-8');
    const sha256 = sha256Hex(body);
    checkReprDigest(digest, sha256);
    const head = await this.store.snapshot(callId);
    // The same answer for an unknown call and for one of another tenant or key.
    if (head?.meta.tenantId !== tenantId || !head.claimToken.startsWith(claimPrefix({ tenantId, source: worker, keyId })))
      throw new ProblemError('resource_not_found', 'No call with this id runs in this worker');
    if (head.status !== 'running' || head.fence !== fence)
      throw new ProblemError('conflict', 'The attempt is over or has a newer fence; stop the call');
    await this.count(tenantId, `${callId}.${fence}`, body.byteLength);
    await this.blobs.put(callId, `worker-output.${fence}`, body, KEPT_SECONDS);
    return { sha256, bytes: body.byteLength };
  }

  private async count(tenantId: string, output: string, bytes: number): Promise<void> {
    const counted = () => this.room.count(tenantId, output, 'outputs', { bytes, lifeMs: KEPT_SECONDS * 1_000 });
    try {
      await counted();
    } catch (error) {
      if (!(error instanceof ProblemError) || !(await this.forgetEnded(tenantId))) throw error;
      await counted();
    }
  }

  /** Deletes outputs whose attempts are over: no gateway saw a `finish` that names them. True if there were some. */
  private async forgetEnded(tenantId: string): Promise<boolean> {
    const ended = await Promise.all(
      (await this.room.outputs(tenantId, CHECKED)).map(async (output) => {
        const [callId = '', fence = ''] = output.split('.');
        const head = await this.store.snapshot(callId);
        if (head?.status === 'running' && head.fence === Number(fence)) return false;
        await this.forget(tenantId, callId, Number(fence));
        return true;
      }),
    );
    return ended.includes(true);
  }

  /** Text that `finish` names; undefined if it was not sent or was replaced. */
  async get(callId: string, fence: number, { sha256 }: WorkerOutput): Promise<string | undefined> {
    const body = await this.blobs.get(callId, `worker-output.${fence}`);
    return body === undefined || sha256Hex(body) !== sha256 ? undefined : body.toString('utf8');
  }

  /** Deletes the output of an attempt that is over. Never rejects: a remaining output expires. */
  async forget(tenantId: string, callId: string, fence: number): Promise<void> {
    try {
      await this.blobs.delete(callId, `worker-output.${fence}`);
      await this.room.count(tenantId, `${callId}.${fence}`, 'outputs', { bytes: 0, lifeMs: 0, always: true });
    } catch {
      // Counted until it expires.
    }
  }
}
