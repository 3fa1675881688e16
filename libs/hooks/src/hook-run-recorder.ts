import { HOOK_REASON_CHARACTERS, type HookRunData } from '#contracts';
import type { HookInvocation, HookRun, HookRunner } from './hook-runner.js';
import { redactHookRun, type Redact } from './redact-hook-run.js';

/**
 * Runs the hooks of one attempt and writes each step of a run as the data of a `call.hook` event: `started` and
 * `finished`, or `cached`. One recorder for each attempt, since it numbers the runs.
 */
export class HookRunRecorder {
  private runs = 0;

  constructor(
    private readonly runner: Pick<HookRunner, 'run'>,
    private readonly write: (step: HookRunData) => void,
  ) {}

  /**
   * Runs a hook like `HookRunner.run`. The result of `redactorFor` removes the secrets of the call, and of arguments that the
   * hook rewrote, from the reason in the event, and only there.
   */
  async run(invocation: HookInvocation, redactorFor: (run: HookRun) => Redact): Promise<HookRun> {
    const { hook } = invocation;
    const step = { hook: hook.name, event: hook.on, run: (this.runs += 1) };
    let startedAt: number | undefined;
    const started = () => {
      startedAt = performance.now();
      this.write({ phase: 'started', ...step, at: now() });
    };
    try {
      const run = await this.runner.run({ ...invocation, started });
      this.write({ phase: run.cached ? 'cached' : 'finished', ...step, at: now(), ...outcomeOf(redactHookRun(run, redactorFor(run))) });
      return run;
    } catch (error) {
      if (startedAt !== undefined) {
        const tookMs = Math.round(performance.now() - startedAt);
        this.write({ phase: 'finished', ...step, at: now(), verdict: 'stopped', tookMs });
      }
      throw error;
    }
  }
}

function outcomeOf({ verdict, failure, reason, arguments: rewritten, tookMs }: HookRun): Partial<HookRunData> {
  const why = failure ?? reason;
  return {
    verdict,
    ...(failure === undefined ? {} : { failed: true as const }),
    ...(rewritten === undefined ? {} : { rewrote: true as const }),
    ...(why === undefined ? {} : { reason: why.slice(0, HOOK_REASON_CHARACTERS) }),
    tookMs,
  };
}

function now(): string {
  return new Date().toISOString();
}
