import type { Source, SourceAuthorization, SourceSummary, SourceTool, StoredSource, ToolChange } from '#contracts';
import { isPending, type PinnedSource } from '#sources';

/** Known parts of one source: its definition, its catalog entry, or both. */
export interface KnownSource {
  readonly stored?: StoredSource | undefined;
  readonly pinned?: PinnedSource | undefined;
  /** Present for sources that people authorize. */
  readonly authorization?: SourceAuthorization;
}

/** Undefined if neither part is known. */
export function summaryOf({ stored, pinned, authorization }: KnownSource): SourceSummary | undefined {
  const authorized = authorization === undefined ? {} : { authorization };
  if (pinned === undefined)
    return (
      stored && {
        name: stored.definition.name,
        kind: stored.definition.kind,
        tenantId: stored.tenantId,
        origin: stored.origin,
        status: 'connecting',
        tools: 0,
        pending: 0,
        ...authorized,
      }
    );
  const { entry } = pinned;
  const pending = entry.tools.filter((_, index) => isPending(pinned, index)).length;
  return {
    name: entry.name,
    kind: entry.kind,
    tenantId: entry.tenantId,
    origin: entry.origin,
    status: entry.status === 'ok' && pending > 0 ? 'pending' : entry.status,
    tools: entry.tools.length,
    pending,
    error: entry.error,
    updatedAt: entry.updatedAt,
    ...authorized,
  };
}

/**
 * API form of a source. `changesOf`: differences of a tool from its accepted version. Omits definitions of all tenants, which
 * only the operator's file shows.
 */
export function sourceOf(known: KnownSource, summary: SourceSummary, changes: ReadonlyMap<string, ToolChange[]>): Source {
  const { stored, pinned } = known;
  const tools = pinned?.entry.tools ?? [];
  return {
    ...summary,
    ...(stored === undefined || stored.tenantId === '*' ? {} : { definition: stored.definition }),
    list: tools.map(({ rawName, digest, descriptor }, index): SourceTool => ({
      name: descriptor.name,
      rawName,
      digest,
      pending: pinned !== undefined && isPending(pinned, index),
      changes: changes.get(rawName) ?? [],
    })),
    problems: pinned?.entry.problems ?? [],
  };
}
