/** A call just accepted is dispatched at once; its timer covers the case that this fails. Equal in apply-transitions.lua. */
export const DISPATCH_SAFETY_MS = 2_000;

/** How long a worker may take past a deadline to stop the tool and write End, before the reconciler does. Equal in apply-transitions.lua. */
export const DEADLINE_SLACK_MS = 4_000;
