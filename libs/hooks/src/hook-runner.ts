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
  /** For answers that are kept. */
  readonly redis: RedisConnection;
  /** Where webhooks of sessions may go. */
  readonly sessionEgress: EgressPolicy;
  /** Gets each failure, with what must not leave the log; a variable that is missing only once. */
  readonly log: (facts: { readonly hook: string; readonly variable?: string; readonly err?: unknown }, message: string) => void;
}

export interface HookInvocation {
  readonly hook: AppliedHook;
  readonly input: HookInput;
  /** How often the session of the call was deleted before it: answers of before are not used. */
  readonly sessionEpoch: number;
  /** Aborting stops the hook and all that it started. */
  readonly signal: AbortSignal;
  /** No longer than this, whatever the hook's own `timeoutMs`. */
  readonly budgetMs?: number;
  /** By the settings of the call: what holds secrets is not kept. Asked only of hooks whose answers are. */
  readonly holdsSecrets: HoldsSecrets;
  /** Called before the hook starts. Not called when a cached answer is used. */
  readonly started?: () => void;
}

/** The result of running a hook. */
export interface HookRun {
  readonly hook: AppliedHook;
  /** After `onError` was applied. */
  readonly verdict: 'allow' | 'deny';
  /** Why the hook gave no answer, as a sentence; absent when it gave one. */
  readonly failure?: string;
  /** As the hook said it. */
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

  /** Runs one hook. A hook that fails gives a verdict by its `onError`. Rejects only with the reason of `signal`; the hook is stopped then. */
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
      const known = key === undefined ? undefined : await this.cache.get(key);
      const verdict = known ?? (await this.execute(invocation));
      if (key !== undefined && known === undefined) await this.cache.put(key, verdict, hook, holdsSecrets);
      const { decision = 'allow', reason, feedback, arguments: rewritten } = verdict;
      return {
        ...report(decision, known !== undefined),
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
