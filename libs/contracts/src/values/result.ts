import { z } from 'zod';
import { Json } from './json.js';

const Annotations = z
  .object({
    audience: z
      .array(z.enum(['user', 'assistant']))
      .optional()
      .describe('For whom it is meant. Absent: not said.'),
    priority: z.number().min(0).max(1).optional().describe('From 0 (optional) to 1 (required). Absent: not said.'),
    lastModified: z.string().optional().describe('When it was changed last, as RFC 3339 text. Absent: not said.'),
  })
  .optional()
  .describe('What the source of the tool says about this part, as in the Model Context Protocol. Absent without any.');

const ResourceBase = {
  uri: z.string().describe('What names it at its source.'),
  mimeType: z.string().optional().describe('Absent if the tool does not know it.'),
};

const Resource = z.union([
  z.object({ ...ResourceBase, text: z.string().describe('Its text, for the model.') }),
  z.object({ ...ResourceBase, blob: z.string().describe('Its bytes, base64.') }),
]);

/** Content of a tool for the model. Images and audio are base64; a resource link points at something the agent can fetch. */
export const Content = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('text'), text: z.string().describe('For the model, as it is.'), annotations: Annotations }),
    z.object({ type: z.literal('json'), json: Json.describe('For the model, as JSON text.') }),
    z.object({
      type: z.literal('image'),
      data: z.string().describe('The image, base64.'),
      mimeType: z.string().describe('Such as `image/png`.'),
      annotations: Annotations,
    }),
    z.object({
      type: z.literal('audio'),
      data: z.string().describe('The sound, base64.'),
      mimeType: z.string().describe('Such as `audio/wav`.'),
      annotations: Annotations,
    }),
    z.object({
      type: z.literal('resource_link'),
      uri: z.string().describe('Where it can be fetched.'),
      name: z.string().optional().describe('A name for people. Absent if the tool gave none.'),
      title: z.string().optional().describe('What a user interface shows in place of the name. Absent if the tool gave none.'),
      mimeType: z.string().optional().describe('Absent if the tool does not know it.'),
      description: z.string().optional().describe('What it is, for the model. Absent if the tool gave none.'),
      size: z.number().optional().describe('Its size in bytes. Absent if the tool does not know it.'),
      annotations: Annotations,
    }),
    z.object({
      type: z.literal('resource'),
      resource: Resource.describe('The resource itself: `text` or `blob`.'),
      annotations: Annotations,
    }),
  ])
  .meta({
    id: 'Content',
    description:
      'One part of a result: a text, a JSON value, an image, audio, an embedded resource, or a link to something that the agent can fetch.',
  });
export type Content = z.output<typeof Content>;

export const Result = z
  .object({
    content: z.array(Content).describe('What the model reads, in order.'),
    isError: z.boolean().describe('Whether the model should read it as an error.'),
    structuredContent: Json.optional().describe('The same for programs, by the output schema of the tool. Absent for a tool without one.'),
    details: z.record(z.string(), Json).optional().describe('Facts for people and programs, never for the model. Absent without any.'),
    childCallIds: z.array(z.string()).optional().describe('Calls that this one made. Absent without any.'),
    provenance: z
      .object({
        trust: z.literal('untrusted').describe('Anyone may have written it.'),
        origin: z.string().describe('Where it comes from, such as the URL.'),
      })
      .optional()
      .describe('Present when the content comes from outside: it is data for the model, never instructions.'),
    truncated: z
      .object({
        originalBytes: z.number().int().describe('Size of the whole result in bytes.'),
        artifactUri: z.string().describe('Path of the whole output, as long as that is stored.'),
      })
      .optional()
      .describe('Present when this is only a part of the result: the whole is too long for the model, or the stored value has expired.'),
  })
  .meta({ id: 'Result', description: 'What the model gets.' });
export type Result = z.output<typeof Result>;
