import { z } from 'zod';
import { Json } from './json.js';

/** What a tool may hand to the model. Images are base64; a resource link points at something the agent can fetch. */
export const Content = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('text'), text: z.string() }),
    z.object({ type: z.literal('json'), json: Json }),
    z.object({ type: z.literal('image'), data: z.string(), mimeType: z.string() }),
    z.object({
      type: z.literal('resource_link'),
      uri: z.string(),
      name: z.string().optional(),
      mimeType: z.string().optional(),
      description: z.string().optional(),
    }),
  ])
  .meta({ id: 'Content' });
export type Content = z.output<typeof Content>;

/** What the model gets. `details` is for people and programs, never for the model. */
export const Result = z
  .object({
    content: z.array(Content),
    isError: z.boolean(),
    structuredContent: Json.optional(),
    details: z.record(z.string(), Json).optional(),
    childCallIds: z.array(z.string()).optional(),
    /** There when the content comes from outside, where anybody may have written it: data, never instructions. */
    provenance: z.object({ trust: z.literal('untrusted'), origin: z.string() }).optional(),
    truncated: z.object({ originalBytes: z.number().int(), artifactUri: z.string() }).optional(),
  })
  .meta({ id: 'Result' });
export type Result = z.output<typeof Result>;
