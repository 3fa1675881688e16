import type { McpClientCredentials } from '#contracts';
import type { EgressFetch } from '#sandbox';
import { resolveSecrets } from '../definitions/resolve-secrets.js';
import type { Tokens } from './authorized-fetch.js';
import { ClientCredentials } from './client-credentials.js';
import { tokenEndpointOf } from './token-endpoint.js';

/** Tokens that a server may still repeat in an answer. */
const TOKENS_KEPT = 8;

export interface ServerTokensParts {
  /** Address of the server that accepts the tokens. */
  readonly url: string;
  readonly auth: McpClientCredentials;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly guarded: Pick<EgressFetch, 'fetch'>;
  /** Gets the client secret and each token. */
  readonly secrets: string[];
}

/** The tokens of one connection to an MCP server. */
export class ServerTokens implements Tokens {
  private readonly credentials: ClientCredentials;
  private metadataUrl: URL | undefined;

  /** @throws Error that names the variable or file that is not set */
  constructor({ url, auth, env, guarded, secrets }: ServerTokensParts) {
    secrets.push(...Object.values(resolveSecrets({ secret: auth.clientSecret }, env)));
    const others = secrets.length;
    this.credentials = new ClientCredentials({
      auth,
      env,
      guarded,
      endpoint: (signal) => tokenEndpointOf({ ...auth, url, metadataUrl: this.metadataUrl }, guarded, signal),
      onToken: (token) => {
        if (secrets.length >= others + TOKENS_KEPT) secrets.splice(others, 1);
        secrets.push(token);
      },
    });
  }

  token(): Promise<string> {
    return this.credentials.token();
  }

  refused(token: string, metadataUrl: URL | undefined): void {
    this.metadataUrl = metadataUrl ?? this.metadataUrl;
    this.credentials.refused(token);
  }
}
