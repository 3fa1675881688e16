import { z } from 'zod';
import { ToolDescriptor } from '../tools/tool.js';
import { SourceKind, SourceName, SourceTenant } from './source.js';

/** `stale`: last valid list of a source that is unreachable now. `failed`: no valid list yet. */
export const SourceStatus = z.enum(['ok', 'stale', 'failed', 'pending']).meta({
  id: 'SourceStatus',
  description:
    '`ok`: its tools are as it last reported them; `stale`: it is not reachable now, and this is its last good list; `failed`: there was no good list yet; `pending`: changed tools wait for a person.',
});
export type SourceStatus = z.output<typeof SourceStatus>;

/** One announced tool of a source. `descriptor.name` is the mapped name without the source. */
export const AnnouncedTool = z.object({
  /** Name of the tool in its source. */
  rawName: z.string(),
  /** Digest of name, description, schemas and facts. */
  digest: z.string(),
  descriptor: ToolDescriptor,
});
export type AnnouncedTool = z.output<typeof AnnouncedTool>;

/** Catalog entry of a source, stored by its announcer. */
export const AnnouncedSource = z.object({
  tenantId: SourceTenant,
  name: SourceName,
  kind: SourceKind,
  /** True if changed tools wait for a person. */
  pin: z.boolean(),
  /** Origin of the definition; tools of the operator's sources take precedence in names. */
  origin: z.enum(['config', 'api', 'announced']),
  status: SourceStatus,
  /** Reason of the status `stale` or `failed`. */
  error: z.string().optional(),
  /** Skipped tools, with the reasons. */
  problems: z.array(z.string()).default([]),
  tools: z.array(AnnouncedTool),
  updatedAt: z.iso.datetime(),
  /** True if the entry expires when its announcer stops renewing it. */
  expires: z.boolean().default(false),
});
export type AnnouncedSource = z.output<typeof AnnouncedSource>;

/** Accepted version of a tool: the first one, or one accepted by a person. */
export const PinnedTool = z.object({ digest: z.string(), descriptor: ToolDescriptor });
export type PinnedTool = z.output<typeof PinnedTool>;
