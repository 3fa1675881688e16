export function claimsOf(source: string): [row: string, title: string][];
export function capabilityMap(): Record<string, string[]>;
