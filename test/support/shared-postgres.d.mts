/** The database with an empty history, of which others are made. */
export const TEMPLATE: string;
export function offerPostgres(): Promise<{ readonly url: string; stop(): Promise<void> }>;
