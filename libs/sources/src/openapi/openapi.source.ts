import { pathToFileURL } from 'node:url';
import type { OpenApiSourceDefinition, StoredSource } from '#contracts';
import { globMatches } from '#patterns';
import { egressFetch, traceHostsFrom, type EgressFetch, type EgressPolicy } from '#sandbox';
import { namedFetch } from '../address-fault.js';
import type { SourceConnection, SourceConnector } from '../source-connector.port.js';
import { isWanted, offeredName } from '../catalog/offered-tool.js';
import { issuerUrls } from '../definitions/issuer-urls.js';
import { sourcePolicy } from '../definitions/source-policy.js';
import { ClientCredentials } from '../oauth/client-credentials.js';
import { credentialsOf, type Credentials } from './credentials.js';
import { fetchDocument, parseDocument, readDocument } from './load-document.js';
import { OpenApiConnection } from './openapi-connection.js';
import { readOperations, type ReadOperations, type ReadRules } from './read-operations.js';

export interface OpenApiConnectorOptions {
  /** Egress policy; for sources of the config file the hosts in their definition are added. */
  readonly egress: EgressPolicy;
  /** Environment with the secrets by name, and `TRACE_HOSTS`. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: (message: string, facts: object) => void;
}

/** OpenAPI documents, on the network or the worker's disk: each operation is a tool. */
export class OpenApiConnector implements SourceConnector {
  constructor(private readonly options: OpenApiConnectorOptions) {}

  async open(source: StoredSource, signal: AbortSignal): Promise<SourceConnection> {
    const { definition } = source;
    if (definition.kind !== 'openapi') throw new Error('expected a source of the kind openapi');
    const credentials = credentialsOf(definition, this.options.env);
    const policy = this.policyOf(source.origin, definition);
    const guarded = namedFetch(egressFetch(policy));
    const read = this.reader(definition, credentials, guarded);
    try {
      const tokens = this.tokensOf(definition, guarded);
      const connection = new OpenApiConnection({ read, guarded, credentials, tokens, traceHosts: traceHostsFrom(this.options.env) });
      await connection.refresh(signal);
      return connection;
    } catch (error) {
      await guarded.close();
      throw error;
    }
  }

  private tokensOf({ auth }: OpenApiSourceDefinition, guarded: EgressFetch): ClientCredentials | undefined {
    if (auth?.type !== 'clientCredentials') return undefined;
    const { tokenUrl } = auth;
    return new ClientCredentials({ auth, env: this.options.env, guarded, endpoint: () => Promise.resolve({ tokenUrl }) });
  }

  /** A server that only the document names must be public. */
  private policyOf(origin: StoredSource['origin'], { document, url, auth, egress }: OpenApiSourceDefinition): EgressPolicy {
    const urls = [document, url, ...issuerUrls(auth)].filter((it) => it !== undefined);
    return sourcePolicy(this.options.egress, { origin, urls, egress });
  }

  private reader(definition: OpenApiSourceDefinition, credentials: Credentials, guarded: EgressFetch) {
    const rules = rulesOf(definition, credentials);
    let last: { text: string; read: ReadOperations } | undefined;
    return async (signal: AbortSignal): Promise<ReadOperations> => {
      const text = await this.textOf(definition, credentials, guarded, signal);
      if (text === last?.text) return last.read;
      const read = await readOperations(parseDocument(text), rules, signal);
      if (read.problems.length > 0)
        this.options.log('operations were left out', { source: definition.name, problems: read.problems.slice(0, 20) });
      last = { text, read };
      return read;
    };
  }

  private textOf(
    { document, path = '', url }: OpenApiSourceDefinition,
    { headers }: Credentials,
    guarded: EgressFetch,
    signal: AbortSignal,
  ) {
    if (document === undefined) return readDocument(path);
    // A document that another host publishes needs no credentials of the API.
    const own = url === undefined || new URL(url).origin === new URL(document).origin;
    return fetchDocument(document, guarded, own ? headers : {}, signal);
  }
}

function rulesOf(definition: OpenApiSourceDefinition, { headers, query, cookies }: Credentials): ReadRules {
  const { tags, methods, paths, maxTools, url, document, path } = definition;
  return {
    servers: { url, documentUrl: document, sameOrigin: definition.auth !== undefined || definition.headers !== undefined },
    reserved: {
      headers: new Set([...Object.keys(headers), ...(definition.auth === undefined ? [] : ['authorization'])]),
      query: new Set(Object.keys(query)),
      cookies: new Set(Object.keys(cookies)),
    },
    wanted: (operation) =>
      isWanted(offeredName(definition, operation.name), operation.name, definition) &&
      (tags === undefined || tags.some((tag) => operation.tags.includes(tag))) &&
      (methods === undefined || methods.some((method) => method === operation.method)) &&
      (paths === undefined || paths.some((it) => operation.path.startsWith(it) || globMatches(it, operation.path))),
    maxTools,
    location: document ?? (path === undefined ? undefined : pathToFileURL(path).href),
  };
}
