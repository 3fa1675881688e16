/** Text of libs/DECISIONS.md. */
export function decisionList(): string;
