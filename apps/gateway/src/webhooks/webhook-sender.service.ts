import { Inject, Injectable } from '@nestjs/common';
import type { WebhookMessage, WebhookSettings } from '#contracts';
import { CallStore } from '#event-log';
import { signedHeaders } from '#hooks';
import { EgressError, EgressPolicy, SafeFetch } from '#sandbox';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/gateway.config.js';
import type { StoredDelivery } from './webhook-store.service.js';

/** Timeout of a request and its response. */
const ANSWER_MS = 10_000;
/** Most bytes of a response, of which only the status is used. */
const ANSWER_BYTES = 1_024;

/** Sends one event to one webhook, once. Non-public addresses need EGRESS_ALLOW_HOSTS. */
@Injectable()
export class WebhookSender {
  private readonly fetcher: SafeFetch;
  private readonly env: NonNullable<GatewayConfig['env']>;
  private readonly publicUrl: string | undefined;

  constructor(
    private readonly calls: CallStore,
    @Inject(GATEWAY_CONFIG) { egress = new EgressPolicy(), env = {}, publicUrl }: Pick<GatewayConfig, 'egress' | 'env' | 'publicUrl'>,
  ) {
    this.fetcher = new SafeFetch(egress);
    this.env = env;
    this.publicUrl = publicUrl;
  }

  /** Closes after the runners: an aborted try would count. Idempotent. */
  async close(): Promise<void> {
    await this.fetcher.close();
  }

  /** Reason of a failed try; undefined for success. Rejects if the call cannot be read now, or when `closing` aborts. */
  async send(
    tenantId: string,
    { url, secretEnv }: WebhookSettings,
    delivery: StoredDelivery,
    closing: AbortSignal,
  ): Promise<string | undefined> {
    const body = JSON.stringify(await this.message(tenantId, delivery));
    const secret = this.env[secretEnv];
    if (secret === undefined || secret === '') return `the variable ${secretEnv} is not set in the gateway`;
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'Toolyard/0.1 (webhooks)',
      ...signedHeaders(secret, delivery.id, body),
    };
    const late = AbortSignal.timeout(ANSWER_MS);
    const options = { signal: AbortSignal.any([late, closing]), body, headers, maxBytes: ANSWER_BYTES, label: 'the webhook' };
    try {
      const { status } = await this.fetcher.send(url, { method: 'POST', ...options });
      if (status >= 200 && status <= 299) return undefined;
      return `it answered ${status}${status >= 300 && status < 400 ? '; redirects are not followed' : ''}`;
    } catch (error) {
      if (closing.aborted) throw error;
      if (late.aborted) return `it did not answer within ${ANSWER_MS / 1_000} s`;
      if (error instanceof EgressError) return error.message.slice(0, 300);
      throw error;
    }
  }

  /** Message with the current call, without erased content. */
  private async message(tenantId: string, { type, time, callId, actor, decision }: StoredDelivery): Promise<WebhookMessage> {
    const call = await this.calls.read(callId);
    return {
      type,
      timestamp: new Date(time).toISOString(),
      data: {
        callId,
        actor,
        ...(decision === undefined ? {} : { decision }),
        ...(call?.tenantId === tenantId ? { call } : {}),
        ...(this.publicUrl === undefined ? {} : { url: `${this.publicUrl}/calls/${callId}` }),
      },
    };
  }
}
