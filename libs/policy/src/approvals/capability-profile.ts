import type { ToolSubject } from '#contracts';

/**
 * What a tool may touch, as its subjects say: `none`, or of `file_read_only`, `file_read_write`, `web`, `command`, `operation`
 * and `agent` those that hold, joined by `+`. A call is judged under the profile of its tool and runs under no other.
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
