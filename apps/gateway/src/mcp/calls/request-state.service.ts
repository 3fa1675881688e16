import { randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { createRequestStateCodec, type RequestStateCodec } from '@modelcontextprotocol/server';
import canonicalize from 'canonicalize';
import { z } from 'zod';
import type { Call } from '#contracts';
import { keys, sha256Hex, type RedisConnection } from '#redis';
import { FAIL_FAST_REDIS } from '../../platform/tokens.js';
import { invalidParams } from '../wire/json-rpc-error.js';
import type { ToolCall } from './tool-call.js';

const KEY_BYTES = 32;
/** Time in milliseconds for which the key is cached: Redis may have lost it, and another gateway created one. */
const KEY_MS = 60_000;
/** Least interval in milliseconds for rereading the key when a state does not verify. Limits the load by forged states. */
const REREAD_MS = 1_000;
/** Grace after the call's longest wait, in seconds; later states are expired. */
const SPARE_SECONDS = 60;

/** Content of the state: the waiting call, its principal, the request and the open request to the user. Contains no secrets. */
const State = z.strictObject({
  callId: z.string(),
  principal: z.string(),
  request: z.string(),
  question: z.string(),
});

/** Open request to a client. */
export interface OpenQuestion {
  readonly callId: string;
  /** Name among the input requests. */
  readonly question: string;
}

/**
 * State that a client returns with its user's answer. Untrusted, therefore signed with a key that all gateways share, bound to
 * the principal, the tool and the arguments, and expiring with the request. Proves which call the request was about. The
 * approval's decision, not the state, guarantees a single run.
 */
@Injectable()
export class RequestStates {
  private key: { readonly readAt: number; readonly value: Promise<Buffer> } | undefined;

  constructor(@Inject(FAIL_FAST_REDIS) private readonly redis: RedisConnection) {}

  async mint(of: ToolCall, { id, status, approval, waiting }: Call, question: string): Promise<string> {
    const until = status === 'waiting_approval' ? approval?.expiresAt : waiting?.until;
    const leftMs = until === undefined ? 0 : Date.parse(until) - Date.now();
    const codec = await this.codec({ ttlSeconds: Math.max(0, Math.ceil(leftMs / 1000)) + SPARE_SECONDS });
    return codec.mint({ callId: id, principal: principalOf(of), request: requestOf(of), question }, of.ctx);
  }

  /**
   * Open request of the state.
   * @throws ProtocolError for a forged or expired state, or one of another request
   */
  async questionOf(of: ToolCall, state: string): Promise<OpenQuestion> {
    const verified = await this.verified(of, state);
    if (verified?.principal !== principalOf(of)) throw invalidParams('Invalid or expired requestState');
    if (verified.request !== requestOf(of)) throw invalidParams('The requestState is of another tool or other arguments');
    return verified;
  }

  /** State of the client, if the key has signed it. Rereads the key after a failure: another gateway may have replaced it. */
  private async verified(of: ToolCall, state: string): Promise<z.output<typeof State> | undefined> {
    const verify = async (codec: RequestStateCodec) => codec.verify(state, of.ctx).catch(() => undefined);
    const found = (await verify(await this.codec())) ?? (await verify(await this.codec({ atMostMs: REREAD_MS })));
    return State.safeParse(found).data;
  }

  private async codec({ ttlSeconds, atMostMs = KEY_MS }: { ttlSeconds?: number; atMostMs?: number } = {}): Promise<RequestStateCodec> {
    const now = performance.now();
    if (this.key === undefined || now - this.key.readAt > atMostMs) this.key = { readAt: now, value: this.sharedKey() };
    const { value } = this.key;
    try {
      return createRequestStateCodec({ key: await value, ...(ttlSeconds === undefined ? {} : { ttlSeconds }) });
    } catch (error) {
      this.key = undefined;
      throw error;
    }
  }

  private async sharedKey(): Promise<Buffer> {
    const own = randomBytes(KEY_BYTES).toString('base64');
    await this.redis.set(keys.mcpStateKey(), own, 'NX');
    return Buffer.from((await this.redis.get(keys.mcpStateKey())) ?? own, 'base64');
  }
}

function principalOf({ principal: { tenantId, keyId } }: { readonly principal: ToolCall['principal'] }): string {
  return `${tenantId}/${keyId}`;
}

function requestOf({ name, args }: Pick<ToolCall, 'name' | 'args'>): string {
  return sha256Hex(canonicalize({ name, args }) ?? '');
}
