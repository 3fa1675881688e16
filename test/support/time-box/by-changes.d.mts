export function byChanges<T extends { path: string }>(files: readonly T[], changes: { commits: number; changed: readonly string[] }): T[];
