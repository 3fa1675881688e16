import type { RouteOptions } from 'fastify';

/**
 * Methods of each path, for answering a wrong method with 405 and a wrong path with 404. Not Fastify's `findRoute`: it finds a
 * route by its pattern, not by the path of a request.
 */
export class RouteTable {
  private readonly routes: { readonly url: string; readonly pattern: RegExp; readonly methods: readonly string[] }[] = [];

  /** Method and path of every route, such as `GET /v1/calls/:id`, in the order of their registration. */
  get lines(): readonly string[] {
    return this.routes.flatMap(({ url, methods }) => methods.map((method) => `${method} ${url.replaceAll('::', ':')}`));
  }

  record({ url, method }: Pick<RouteOptions, 'url' | 'method'>): void {
    if (url.includes('*')) return;
    const methods = (typeof method === 'string' ? [method] : method).map((name) => name.toUpperCase());
    this.routes.push({ url, pattern: patternOf(url), methods });
  }

  methodsOf(url: string): readonly string[] {
    const path = url.split('?', 1)[0] ?? '';
    return [...new Set(this.routes.filter(({ pattern }) => pattern.test(path)).flatMap(({ methods }) => methods))];
  }
}

/** Pattern of a route: `::` is a literal colon, `:name` a parameter. */
function patternOf(url: string): RegExp {
  const source = url.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/::|:[A-Za-z]+/g, (part) => (part === '::' ? ':' : '[^/]+'));
  // oxlint-disable-next-line no-restricted-globals -- routes of this program, escaped
  return new RegExp(`^${source}$`);
}
