import { randomUUID } from 'node:crypto';
import type { AppliedHook, HookInput, HookVerdict } from '#contracts';
import { EgressError, EgressPolicy, SafeFetch } from '#sandbox';
import { parseHookOutput } from './hook-output.js';
import { signedHeaders } from './standard-webhook.js';
import { HookFailure, HookNotSetUp } from './hook-failure.js';

type Env = Readonly<Record<string, string | undefined>>;

/** Client for webhooks, one a process; `close` ends its connections. */
export class Webhooks {
  private readonly forSessions: SafeFetch;
  private readonly byHost = new Map<string, SafeFetch>();

  /** `sessions`: egress rules of webhooks of sessions. Those of the operator may reach the host in the config file. */
  constructor(
    private readonly env: Env,
    sessions: EgressPolicy,
  ) {
    this.forSessions = new SafeFetch(sessions);
  }

  /**
   * POSTs the input as JSON, signed if the hook has a secret. Valid answers are 2xx with an empty body, plain text (feedback)
   * or a verdict in JSON; throws a HookFailure for all others, including redirects.
   */
  async call(hook: AppliedHook, url: string, input: HookInput, signal: AbortSignal): Promise<HookVerdict> {
    const body = JSON.stringify(input);
    const options = { signal, body, headers: this.headers(hook, body), maxBytes: hook.maxOutputBytes, label: 'the webhook' };
    const answer = await this.post(hook, url, options);
    if (answer.status < 200 || answer.status > 299)
      throw new HookFailure(` answered ${answer.status}${answer.status < 400 ? '; redirects are not followed' : ''}`);
    const text = answer.body.toString('utf8');
    const type = answer.contentType.split(';')[0]?.trim().toLowerCase() ?? '';
    if (text.trim() === '') return {};
    if (type === 'text/plain') return { feedback: text.trim() };
    if (type !== 'application/json')
      throw new HookFailure(` answered with ${type.slice(0, 80) || 'no content type'}; expected application/json`);
    return parseHookOutput(hook.on, { text, truncated: answer.truncated, strict: true });
  }

  /** Idempotent. */
  async close(): Promise<void> {
    await Promise.all([this.forSessions, ...this.byHost.values()].map((fetcher) => fetcher.close()));
  }

  private async post(hook: AppliedHook, url: string, options: Omit<Parameters<SafeFetch['send']>[1], 'method'>) {
    try {
      return await this.fetcherFor(hook, url).send(url, { method: 'POST', ...options });
    } catch (error) {
      if (error instanceof EgressError)
        throw new HookFailure(error.kind === 'failed' ? `: ${error.message}` : ': its address is not allowed', { cause: error });
      throw error;
    }
  }

  /** Client for the host of an operator's hook, trusted for this hook only; without redirects no other host is reached. */
  private fetcherFor(hook: AppliedHook, url: string): SafeFetch {
    if (hook.by === 'session') return this.forSessions;
    const { hostname } = new URL(url);
    const fetcher = this.byHost.get(hostname) ?? new SafeFetch(new EgressPolicy([hostname]));
    this.byHost.set(hostname, fetcher);
    return fetcher;
  }

  private headers(hook: AppliedHook, body: string): Record<string, string> {
    const headers: Record<string, string> = {
      'content-type': 'application/json',
      accept: 'application/json, text/plain',
      'user-agent': 'Toolyard/0.1 (hooks)',
    };
    for (const [header, name] of Object.entries(hook.headersEnv ?? {})) headers[header.toLowerCase()] = this.variable(name);
    return {
      ...headers,
      ...(hook.secretEnv === undefined ? {} : signedHeaders(this.variable(hook.secretEnv), `msg_${randomUUID()}`, body)),
    };
  }

  private variable(name: string): string {
    const value = this.env[name];
    if (value === undefined || value === '') throw new HookNotSetUp(name);
    return value;
  }
}
