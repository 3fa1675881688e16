import type { Call } from '#contracts';

/** Any JSON value, as the contracts have it. */
export type Json = Call['arguments'];
