import type { ResourceLimitExceeded } from './resource-limit-watchdog.js';

/** Exit code or signal of an ended process, as the operating system reports it. */
export type Exit = { readonly code: number | null; readonly signal: NodeJS.Signals | null };

/** `stopped` ended after SIGTERM by itself, with this exit code unless a signal ended it; `killed` needed SIGKILL; both only after an abort. `over_limit` was killed for what it used. */
export type ExitStatus =
  | { readonly how: 'exited'; readonly code: number }
  | { readonly how: 'signalled'; readonly signal: NodeJS.Signals }
  | { readonly how: 'stopped'; readonly tookMs: number; readonly code: number | null }
  | { readonly how: 'killed'; readonly tookMs: number }
  | { readonly how: 'over_limit'; readonly overrun: ResourceLimitExceeded };
