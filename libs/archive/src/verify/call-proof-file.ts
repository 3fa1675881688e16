import { z } from 'zod';

const place = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);

/** Proof that the events of a call are in a signed archive, for readers with only this file and the public key. */
export const CALL_PROOF = z.strictObject({
  version: z.literal(1),
  callId: z.string(),
  /** Signed note (c2sp.org/tlog-checkpoint) whose extension lines name the trees. */
  checkpoint: z.string(),
  /** Events in order. `line` is the hashed text; `path` its audit path (RFC 6962, 2.1.1), in base64. */
  events: z
    .array(z.strictObject({ partition: z.string(), generation: place, index: place, line: z.string(), path: z.array(z.base64()) }))
    .min(1),
});

export type CallProof = z.infer<typeof CALL_PROOF>;
