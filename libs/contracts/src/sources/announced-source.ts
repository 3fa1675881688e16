import { z } from 'zod';
import { ToolDescriptor } from '../tools/tool.js';
import { SourceKind, SourceName, SourceTenant } from './source.js';

/** `stale`: the last good list of a source that is not reachable now. `failed`: there was no good list yet. */
export const SourceStatus = z.enum(['ok', 'stale', 'failed', 'pending']).meta({
  id: 'SourceStatus',
  description:
    '`ok`: its tools are as it last reported them; `stale`: it is not reachable now, and this is its last good list; `failed`: there was no good list yet; `pending`: changed tools wait for a person.',
});
export type SourceStatus = z.output<typeof SourceStatus>;

/** One tool of a source as it was announced. `descriptor.name` is the mapped name without the source. */
export const AnnouncedTool = z.object({
  /** The name by which the source knows it. */
  rawName: z.string(),
  /** Of name, description, schemas and facts. */
  digest: z.string(),
  descriptor: ToolDescriptor,
});
export type AnnouncedTool = z.output<typeof AnnouncedTool>;

/** The catalog entry of a source, as its announcer stores it. */
export const AnnouncedSource = z.object({
  tenantId: SourceTenant,
  name: SourceName,
  kind: SourceKind,
  /** Changed tools wait for a person. */
  pin: z.boolean(),
  /** Where it was defined; tools of the operator's sources take precedence in names. */
  origin: z.enum(['config', 'api', 'announced']),
  status: SourceStatus,
  /** Why it is stale or failed. */
  error: z.string().optional(),
  /** Tools that were left out, with the reason. */
  problems: z.array(z.string()).default([]),
  tools: z.array(AnnouncedTool),
  updatedAt: z.iso.datetime(),
  /** It disappears when its announcer stops renewing it. */
  expires: z.boolean().default(false),
});
export type AnnouncedSource = z.output<typeof AnnouncedSource>;

/** What was accepted of a tool: at first sight, or by a person. */
export const PinnedTool = z.object({ digest: z.string(), descriptor: ToolDescriptor });
export type PinnedTool = z.output<typeof PinnedTool>;
