import type { HookRunData } from '#contracts';
import { duration } from './time-text.js';

const VERDICT_WORDS: Readonly<Record<NonNullable<HookRunData['verdict']>, string>> = {
  allow: 'allowed',
  deny: 'denied',
  stopped: 'stopped',
};

/** `hook lint (after) denied after 20ms: two errors`. */
export function hookText({ phase, hook, event, verdict, failed, rewrote, reason, tookMs }: HookRunData): string {
  const name = `hook ${hook} (${event})`;
  if (phase === 'started' || verdict === undefined) return `${name} started`;
  const took = phase === 'cached' ? ' from the cache' : tookMs === undefined ? '' : ` after ${duration(tookMs)}`;
  const how = failed ? `failed, ${VERDICT_WORDS[verdict]} by onError` : VERDICT_WORDS[verdict];
  return `${name} ${how}${rewrote ? ', rewrote the arguments' : ''}${took}${reason === undefined ? '' : `: ${reason}`}`;
}
