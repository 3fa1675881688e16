/** The text of each written file, by its address. */
export function listings(): Map<URL, string>;
/** The written files that are not as they should be. */
export function outdated(): string[];
