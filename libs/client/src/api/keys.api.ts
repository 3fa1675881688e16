import { ROUTES, type ApiKey, type BodyInputOf, type IssuedKey } from '#contracts';
import type { RequestOptions } from '../client-options.js';
import type { HttpTransport } from '../http/http-transport.js';

/** The API keys of the tenant. Needs the scope `admin`. */
export class KeysApi {
  constructor(private readonly http: HttpTransport) {}

  /** Keys without their texts, those of the config file first. */
  async list(options: RequestOptions = {}): Promise<ApiKey[]> {
    return (await this.http.request(ROUTES.listKeys, options)).keys;
  }

  get(id: string, options: RequestOptions = {}): Promise<ApiKey> {
    return this.http.request(ROUTES.getKey, { params: { id }, ...options });
  }

  /** Creates a key. Only this response has its text. */
  create(key: BodyInputOf<typeof ROUTES.createKey>, options: RequestOptions = {}): Promise<IssuedKey> {
    return this.http.request(ROUTES.createKey, { body: key, ...options });
  }

  /** Replaces the text of a key; earlier texts remain valid for `overlapMs`, by default one day. */
  rotate(id: string, body: BodyInputOf<typeof ROUTES.rotateKey> = {}, options: RequestOptions = {}): Promise<IssuedKey> {
    return this.http.request(ROUTES.rotateKey, { params: { id }, body, ...options });
  }

  /** Ends the key at once. */
  revoke(id: string, options: RequestOptions = {}): Promise<void> {
    return this.http.send(ROUTES.revokeKey, { params: { id }, ...options });
  }
}
