import { lazyRouteComponent } from '@tanstack/react-router';

/** The file of a page was not loaded: the gateway is away, or has another release by now. */
export class PageNotLoaded extends Error {
  constructor(cause: unknown) {
    super('The page is not loaded yet.', { cause });
    this.name = 'PageNotLoaded';
  }
}

/** A page in a file of its own. The router would reload the window for its own error of a missing file, also while nothing answers. */
// oxlint-disable-next-line typescript/no-explicit-any -- as the router declares it
export function pageOf<T extends Record<string, any>, Name extends keyof T>(load: () => Promise<T>, name: Name) {
  return lazyRouteComponent(
    () =>
      load().catch((cause: unknown) => {
        throw new PageNotLoaded(cause);
      }),
    name,
  );
}
