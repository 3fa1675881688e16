export interface ValidatingProxy {
  readonly url: string;
  failure(): string | undefined;
  stop(): void;
}
export function startValidatingProxy(document: object, upstream: string): Promise<ValidatingProxy>;
export function contractViolations(header: string | null): { readonly location: readonly string[] }[];
