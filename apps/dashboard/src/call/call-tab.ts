import { z } from 'zod';

/** What the page of a call shows; in the address as `?tab=events`. */
export const CallTab = z.enum(['agent', 'output', 'result', 'arguments', 'decision', 'tree', 'events', 'debug']);
