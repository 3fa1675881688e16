import type { HookFeedback } from '../commit/attempt-result.js';
import type { Result } from '#contracts';
import { redactHookRun, type HookRun } from '#hooks';

/** Most runs in `details`: a call may have a thousand updates. Failed and denying runs come first. */
const MAX_RUNS = 20;
const REASON_CHARACTERS = 500;

type Detail = NonNullable<Result['details']>[string];

/**
 * Collects for the model the feedback and failures of hooks after the call, without those around updates. Pure. `shown` redacts
 * secrets, before any cut.
 */
export function collectFeedback(all: readonly HookRun[], shown: (text: string, cut?: boolean) => string): HookFeedback {
  const runs = all.map((run) => redactHookRun(run, shown));
  const after = runs.filter(({ hook }) => hook.on === 'after');
  const denied = after.some(({ verdict }) => verdict === 'deny');
  const lines = after.flatMap(feedbackLines);
  const label = denied ? 'Hook feedback (denied):' : 'Hook feedback:';
  const shownRuns = [...runs].sort((a, b) => weight(b) - weight(a)).slice(0, MAX_RUNS);
  return {
    ...(denied || lines.length > 0 ? { text: [label, ...lines].join('\n') } : {}),
    denied,
    runs: shownRuns.map(detailOf),
  };
}

/** Adds the feedback of hooks before the call. Pure. */
export function mergeBeforeFeedback(feedback: string | undefined, remarks: HookFeedback | undefined): HookFeedback | undefined {
  if (feedback === undefined) return remarks;
  const { text, denied = false, runs = [] } = remarks ?? {};
  return { denied, runs, text: `Hook feedback:\n${feedback}${text === undefined ? '' : `\n${text}`}` };
}

function feedbackLines({ hook, verdict, failure, reason, feedback }: HookRun): string[] {
  if (failure !== undefined) return [`${failure}; ${verdict === 'deny' ? 'the result counts as an error' : 'the result stands'}`];
  const refusal = verdict === 'deny' ? [reason ?? `Hook \`${hook.name}\` refused the result`] : [];
  return [...refusal, ...(feedback === undefined ? [] : [feedback])];
}

function weight({ hook, verdict, failure }: HookRun): number {
  return (hook.on === 'after' ? 2 : 0) + (verdict === 'deny' || failure !== undefined ? 1 : 0);
}

function detailOf({ hook, verdict, failure, reason, cached, tookMs }: HookRun): Detail {
  const why = failure ?? reason;
  return {
    name: hook.name,
    event: hook.on,
    verdict,
    tookMs,
    ...(cached ? { cached } : {}),
    ...(failure === undefined ? {} : { failed: true }),
    ...(why === undefined ? {} : { reason: why.slice(0, REASON_CHARACTERS) }),
  };
}
