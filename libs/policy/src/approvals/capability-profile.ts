import type { ToolSubject } from '#contracts';

/**
 * Capabilities of a tool by its subjects: `none`, or the applicable ones of `file_read_only`, `file_read_write`, `web`,
 * `command`, `operation` and `agent`, joined by `+`. A call is evaluated and run under the profile of its tool.
 */
export function capabilityProfileOf(subjects: readonly ToolSubject[]): string {
  if (subjects.length === 0) return 'none';
  const writes = subjects.some((subject) => subject.kind === 'path' && subject.access === 'write');
  const parts = subjects.map(({ kind }) => {
    if (kind === 'path') return writes ? 'file_read_write' : 'file_read_only';
    return kind === 'url' ? 'web' : kind;
  });
  return [...new Set(parts)].sort().join('+');
}
