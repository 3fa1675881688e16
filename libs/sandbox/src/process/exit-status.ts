import type { ResourceLimitExceeded } from './resource-limit-watchdog.js';

/** Exit code or signal of an ended process, as the operating system reports it. */
export type Exit = { readonly code: number | null; readonly signal: NodeJS.Signals | null };

/**
 * End of a process. After an abort: `stopped` by SIGTERM, with its exit code unless the signal ended it; `killed` by SIGKILL.
 * `over_limit`: killed for its resource use.
 */
export type ExitStatus =
  | { readonly how: 'exited'; readonly code: number }
  | { readonly how: 'signalled'; readonly signal: NodeJS.Signals }
  | { readonly how: 'stopped'; readonly tookMs: number; readonly code: number | null }
  | { readonly how: 'killed'; readonly tookMs: number }
  | { readonly how: 'over_limit'; readonly overrun: ResourceLimitExceeded };
