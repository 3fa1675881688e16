/** Timer of a call just accepted, for the case that its immediate dispatch fails. Equal in apply-transitions.lua. */
export const DISPATCH_SAFETY_MS = 2_000;

/** Time past a deadline for a worker to stop the tool and write End; then the reconciler writes it. Equal in apply-transitions.lua. */
export const DEADLINE_SLACK_MS = 4_000;
