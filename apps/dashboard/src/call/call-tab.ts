import { z } from 'zod';

/** Tab on the page of a call; in the address as `?tab=events`. */
export const CallTab = z.enum(['agent', 'output', 'result', 'arguments', 'decision', 'tree', 'events', 'debug']);
