/** Makes path and body of a request, by the name of the attack. */
export declare const ATTACKS: Readonly<Record<string, () => readonly [path: string, body: object]>>;
