import { Badge } from '@mantine/core';
import { z } from 'zod';
import type { SourceDefinition, SourceKind, SourceSummary } from '#contracts';

export const KIND_NAMES: Readonly<Record<SourceKind, string>> = {
  mcp: 'MCP server',
  openapi: 'OpenAPI',
  folder: 'Folder',
  worker: 'Foreign worker',
  agent: 'Sub-agent',
  plugin: 'npm plugin',
};

export const ORIGINS: Readonly<Record<SourceSummary['origin'], string>> = {
  config: 'config file',
  api: 'added over HTTP',
  announced: 'announced by its worker',
};

const STATES: Readonly<Record<SourceSummary['status'], { readonly label: string; readonly color: string }>> = {
  ok: { label: 'Healthy', color: 'teal' },
  pending: { label: 'Changes wait', color: 'yellow' },
  stale: { label: 'Not reachable', color: 'orange' },
  failed: { label: 'Failed', color: 'red' },
  connecting: { label: 'Connecting', color: 'gray' },
};

/** A source whose tokens a person has to let it have. */
const NEEDED = { label: 'Needs authorization', color: 'orange' };

export function SourceState({ status, authorization }: Pick<SourceSummary, 'status' | 'authorization'>) {
  const { label, color } = authorization?.state === 'needed' ? NEEDED : STATES[status];
  return (
    <Badge variant="dot" color={color} tt="none" miw="max-content" data-source-status={status}>
      {label}
    </Badge>
  );
}

/** Consequence of the state for the tools, in one sentence; nothing for a healthy source. */
export function aboutState({ status, pending, tools, updatedAt }: SourceSummary): string | undefined {
  const count = tools === 1 ? 'tool' : 'tools';
  switch (status) {
    case 'ok':
      return undefined;
    case 'pending':
      return `${pending} of ${tools} ${count} changed and cannot be called until a person accepts the change.`;
    case 'stale':
      return `Workers try again, with a growing pause of at most a minute. The ${tools} ${count} shown are its last good list; calls of them fail.`;
    case 'failed':
      return 'There was no good list of tools yet. Workers try again, with a growing pause of at most a minute.';
    case 'connecting':
      return updatedAt === undefined ? 'No worker has reported yet. One that serves its pool connects within seconds.' : undefined;
  }
}

const Place = z.looseObject({
  url: z.string().optional(),
  document: z.string().optional(),
  command: z.array(z.string()).optional(),
  path: z.string().optional(),
  package: z.string().optional(),
  model: z.looseObject({ url: z.string() }).optional(),
});

/** Location of the tools: an address (for a sub-agent that of its model), a command, a folder or a package. */
export function placeOf(definition: SourceDefinition): string | undefined {
  const { document, url, command, path, package: name, model } = Place.parse(definition);
  return document ?? url ?? command?.join(' ') ?? path ?? name ?? model?.url;
}
