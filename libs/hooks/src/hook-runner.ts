import type { AppliedHook, HookInput, HookVerdict } from '#contracts';
import type { RedisConnection } from '#redis';
import { telemetry } from '#observability';
import type { EgressPolicy } from '#sandbox';
import { runCommandHook, type CommandEnvironment } from './command-hook.js';
import { HookCache, type HoldsSecrets } from './hook-cache.js';
import { HookFailure, HookNotSetUp } from './hook-failure.js';
import { Webhooks } from './webhooks.js';
import { runModuleHook } from './module-hook.js';

export interface HookRunnerOptions extends CommandEnvironment {
  /** Connection of the cache of answers. */
  readonly redis: RedisConnection;
  /** Egress rules of webhooks of sessions. */
  readonly sessionEgress: EgressPolicy;
  /** Logs each failure, with details for the log only; a missing variable only once. */
  readonly log: (facts: { readonly hook: string; readonly variable?: string; readonly err?: unknown }, message: string) => void;
}

export interface HookInvocation {
  readonly hook: AppliedHook;
  readonly input: HookInput;
  /** Number of deletions of the session before the call: earlier answers are not used. */
  readonly sessionEpoch: number;
  /** Stops the hook and all of its processes on abort. */
  readonly signal: AbortSignal;
  /** Upper limit of the time, besides the hook's own `timeoutMs`. */
  readonly budgetMs?: number;
  /** Finds secrets by the settings of the call: answers with secrets are not cached. Called only for hooks with cached answers. */
  readonly holdsSecrets: HoldsSecrets;
  /** Called before the hook starts. Not called for a cached answer. */
  readonly started?: () => void;
}

/** Result of a run of a hook. */
export interface HookRun {
  readonly hook: AppliedHook;
  /** Verdict, after `onError` was applied. */
  readonly verdict: 'allow' | 'deny';
  /** Reason of a missing answer, as a sentence; absent with an answer. */
  readonly failure?: string;
  /** Reason in the words of the hook. */
  readonly reason?: string;
  readonly feedback?: string;
  readonly arguments?: HookVerdict['arguments'];
  readonly cached: boolean;
  readonly tookMs: number;
}

/** Runs hooks of all kinds: commands, webhooks, functions of modules. */
export class HookRunner {
  private readonly webhooks: Webhooks;
  private readonly cache: HookCache;
  private readonly missing = new Set<string>();

  constructor(private readonly options: HookRunnerOptions) {
    this.webhooks = new Webhooks(options.env, options.sessionEgress);
    this.cache = new HookCache(options.redis);
  }

  /** Runs one hook. A failure gives a verdict by `onError`. Rejects only with the reason of `signal`, after which the hook is stopped. */
  async run(invocation: HookInvocation): Promise<HookRun> {
    const { hook, input, sessionEpoch, signal, holdsSecrets } = invocation;
    const startedAt = performance.now();
    const report = (verdict: 'allow' | 'deny' | 'failed' | 'cancelled', cached: boolean) => {
      const tookMs = Math.round(performance.now() - startedAt);
      telemetry.hookRun.emit({ event: hook.on, verdict, cached, tookMs });
      return { hook, cached, tookMs };
    };
    try {
      signal.throwIfAborted();
      const key = this.cache.keyOf(hook, input, sessionEpoch, holdsSecrets);
      const cachedVerdict = key === undefined ? undefined : await this.cache.get(key);
      const verdict = cachedVerdict ?? (await this.execute(invocation));
      if (key !== undefined && cachedVerdict === undefined) await this.cache.put(key, input.tenant_id, verdict, hook, holdsSecrets);
      const { decision = 'allow', reason, feedback, arguments: rewritten } = verdict;
      return {
        ...report(decision, cachedVerdict !== undefined),
        verdict: decision,
        ...(reason === undefined ? {} : { reason }),
        ...(feedback === undefined || feedback === '' ? {} : { feedback }),
        ...(rewritten === undefined ? {} : { arguments: rewritten }),
      };
    } catch (error) {
      if (signal.aborted) {
        report('cancelled', false);
        throw error;
      }
      this.logFailure(hook.name, error);
      const what = error instanceof HookFailure ? error.message : ' failed unexpectedly; the log of the process that ran it says why';
      return { ...report('failed', false), verdict: hook.onError, failure: `Hook \`${hook.name}\`${what}` };
    }
  }

  /** Idempotent. */
  close(): Promise<void> {
    return this.webhooks.close();
  }

  private logFailure(hook: string, error: unknown): void {
    if (!(error instanceof HookNotSetUp)) return this.options.log({ hook, err: error }, 'a hook failed');
    const { variable } = error;
    const about = `${hook} ${variable}`;
    if (this.missing.has(about)) return;
    this.missing.add(about);
    this.options.log({ hook, variable }, `a hook cannot run: ${variable} is not set in the environment of this process`);
  }

  private async execute({ hook, input, signal, budgetMs = Infinity, started }: HookInvocation): Promise<HookVerdict> {
    started?.();
    const limitMs = Math.max(1, Math.floor(Math.min(hook.timeoutMs, budgetMs)));
    const limit = AbortSignal.timeout(limitMs);
    try {
      return await this.executeByKind(hook, input, AbortSignal.any([signal, limit]));
    } catch (error) {
      if (!limit.aborted || signal.aborted) throw error;
      throw new HookFailure(`: ${hook.command === undefined ? '' : 'command '}timed out after ${limitMs} ms`, { cause: error });
    }
  }

  private executeByKind(hook: AppliedHook, input: HookInput, signal: AbortSignal): Promise<HookVerdict> {
    if (hook.command !== undefined) return runCommandHook(hook, hook.command, input, signal, this.options);
    if (hook.url !== undefined) return this.webhooks.call(hook, hook.url, input, signal);
    if (hook.module !== undefined) return runModuleHook(hook, hook.module, input, signal);
    throw new HookFailure(' has nothing to run');
  }
}
