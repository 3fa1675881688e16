import { ROUTES, type ApiKey, type BodyInputOf, type IssuedKey } from '#contracts';
import type { RequestOptions } from '../client-options.js';
import type { HttpTransport } from '../http/http-transport.js';

/** The API keys of the tenant. Needs the scope `admin`. */
export class KeysApi {
  constructor(private readonly http: HttpTransport) {}

  /** Those of the config file first. Without their texts. */
  async list(options: RequestOptions = {}): Promise<ApiKey[]> {
    return (await this.http.request(ROUTES.listKeys, options)).keys;
  }

  get(id: string, options: RequestOptions = {}): Promise<ApiKey> {
    return this.http.request(ROUTES.getKey, { params: { id }, ...options });
  }

  /** Only this answer has the text of the key. */
  create(key: BodyInputOf<typeof ROUTES.createKey>, options: RequestOptions = {}): Promise<IssuedKey> {
    return this.http.request(ROUTES.createKey, { body: key, ...options });
  }

  /** A new text; those before keep working for `overlapMs`, one day where it is not said. */
  rotate(id: string, body: BodyInputOf<typeof ROUTES.rotateKey> = {}, options: RequestOptions = {}): Promise<IssuedKey> {
    return this.http.request(ROUTES.rotateKey, { params: { id }, body, ...options });
  }

  /** Ends the key at once. */
  revoke(id: string, options: RequestOptions = {}): Promise<void> {
    return this.http.send(ROUTES.revokeKey, { params: { id }, ...options });
  }
}
