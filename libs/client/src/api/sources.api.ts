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

/** Where tools that are not built in come from. Needs the scope `admin`. */
export class SourcesApi {
  constructor(private readonly http: HttpTransport) {}

  /** By name, with those that all tenants share. */
  async list(options: RequestOptions = {}): Promise<SourceSummary[]> {
    return (await this.http.request(ROUTES.listSources, options)).sources;
  }

  /** With its tools, and what changed in those that wait for a person. */
  get(name: string, options: RequestOptions = {}): Promise<Source> {
    return this.http.request(ROUTES.getSource, { params: { name }, ...options });
  }

  /** Replaces a source of this name that was added before. Workers connect to it within seconds. */
  add(source: BodyInputOf<typeof ROUTES.addSource>, options: RequestOptions = {}): Promise<SourceSummary> {
    return this.http.request(ROUTES.addSource, { body: source, ...options });
  }

  /** Stores an MCP bundle (`.mcpb`, at most 32 MiB) for a source that names its `sha256`; says what can be set. */
  uploadBundle(file: File, options: RequestOptions = {}): Promise<UploadedBundle> {
    return this.http.request(ROUTES.uploadBundle, { body: file, ...options });
  }

  remove(name: string, options: RequestOptions = {}): Promise<void> {
    return this.http.send(ROUTES.removeSource, { params: { name }, ...options });
  }

  /** Accepts changed tools: those of `body`, or all that are pending now. */
  accept(name: string, body: BodyInputOf<typeof ROUTES.acceptSource> = {}, options: RequestOptions = {}): Promise<Source> {
    return this.http.request(ROUTES.acceptSource, { params: { name }, body, ...options });
  }

  /** Begins to authorize a source whose tokens a person lets it have; says where the person goes. */
  authorize(name: string, options: RequestOptions = {}): Promise<BeginSourceAuthorization> {
    return this.http.request(ROUTES.beginSourceAuthorization, { params: { name }, ...options });
  }

  /** Finishes it. `url`: where the person came back to. */
  finishAuthorization(url: string, options: RequestOptions = {}): Promise<Source> {
    return this.http.request(ROUTES.finishSourceAuthorization, { body: { url }, ...options });
  }

  /** Removes the tokens of a source, and ends them at their issuer. */
  revokeAuthorization(name: string, options: RequestOptions = {}): Promise<SourceAuthorizationRevoked> {
    return this.http.request(ROUTES.revokeSourceAuthorization, { params: { name }, ...options });
  }
}
