import type { Pool, SourceDefinition } from '#contracts';

/** The pool of all tools of a source; undefined where each tool says its own. */
export function poolOf(definition: SourceDefinition & { readonly kind: 'folder' | 'plugin' }): Pool | undefined;
export function poolOf(definition: SourceDefinition): Pool;
export function poolOf(definition: SourceDefinition): Pool | undefined {
  if (definition.pool !== undefined || definition.kind === 'folder' || definition.kind === 'plugin') return definition.pool;
  return definition.kind === 'mcp' && definition.url === undefined ? 'shell' : 'net';
}
