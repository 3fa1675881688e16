import {
  ROUTES,
  type BeginSourceAuthorization,
  type BodyInputOf,
  type Source,
  type SourceAuthorizationRevoked,
  type SourceSummary,
  type UploadedBundle,
} from '#contracts';
import type { RequestOptions } from '../client-options.js';
import type { HttpTransport } from '../http/http-transport.js';

/** Sources of tools that are not built in. Needs the scope `admin`. */
export class SourcesApi {
  constructor(private readonly http: HttpTransport) {}

  /** Sources by name, including those that all tenants share. */
  async list(options: RequestOptions = {}): Promise<SourceSummary[]> {
    return (await this.http.request(ROUTES.listSources, options)).sources;
  }

  /** Source with its tools, and the changes of pending ones. */
  get(name: string, options: RequestOptions = {}): Promise<Source> {
    return this.http.request(ROUTES.getSource, { params: { name }, ...options });
  }

  /** Adds a source, or replaces one of the same name. Workers connect to it within seconds. */
  add(source: BodyInputOf<typeof ROUTES.addSource>, options: RequestOptions = {}): Promise<SourceSummary> {
    return this.http.request(ROUTES.addSource, { body: source, ...options });
  }

  /** Stores an MCP bundle (`.mcpb`, at most 32 MiB) for a source that names its `sha256`; returns its settings. */
  uploadBundle(file: File, options: RequestOptions = {}): Promise<UploadedBundle> {
    return this.http.request(ROUTES.uploadBundle, { body: file, ...options });
  }

  remove(name: string, options: RequestOptions = {}): Promise<void> {
    return this.http.send(ROUTES.removeSource, { params: { name }, ...options });
  }

  /** Accepts changed tools: those of `body`, or all pending ones. */
  accept(name: string, body: BodyInputOf<typeof ROUTES.acceptSource> = {}, options: RequestOptions = {}): Promise<Source> {
    return this.http.request(ROUTES.acceptSource, { params: { name }, body, ...options });
  }

  /** Begins the authorization of a source by a person; returns the person's next address. */
  authorize(name: string, options: RequestOptions = {}): Promise<BeginSourceAuthorization> {
    return this.http.request(ROUTES.beginSourceAuthorization, { params: { name }, ...options });
  }

  /** Finishes the authorization. `url`: address of the person's return. */
  finishAuthorization(url: string, options: RequestOptions = {}): Promise<Source> {
    return this.http.request(ROUTES.finishSourceAuthorization, { body: { url }, ...options });
  }

  /** Removes the tokens of a source, and revokes them at their issuer. */
  revokeAuthorization(name: string, options: RequestOptions = {}): Promise<SourceAuthorizationRevoked> {
    return this.http.request(ROUTES.revokeSourceAuthorization, { params: { name }, ...options });
  }
}
