import { z } from 'zod';

/** The issuer said no, or its answer cannot be used. `code`: the error of OAuth, where it gave one. */
export class IssuerRefusal extends Error {
  readonly code: string | undefined;

  constructor(message: string, { code, ...options }: ErrorOptions & { readonly code?: string } = {}) {
    super(message, options);
    this.code = code;
  }
}

const HttpUrl = z.url({ protocol: /^https?$/ }).max(2_048);
const Text = z.string().max(2_048);
const Texts = z.array(z.string());

/** The stored part of the metadata of an issuer (RFC 8414). */
export const Issuer = z.object({
  issuer: Text,
  authorization_endpoint: HttpUrl,
  token_endpoint: HttpUrl,
  revocation_endpoint: HttpUrl.exactOptional(),
  id_token_signing_alg_values_supported: z.array(z.string().max(64)).max(64).exactOptional(),
  authorization_response_iss_parameter_supported: z.boolean().exactOptional(),
});
export type Issuer = z.output<typeof Issuer>;

/** The part of the metadata that counts when an authorization begins. */
export const IssuerMetadata = Issuer.extend({
  registration_endpoint: HttpUrl.exactOptional(),
  scopes_supported: Texts.exactOptional(),
  token_endpoint_auth_methods_supported: Texts.exactOptional(),
  code_challenge_methods_supported: Texts.refine((methods) => methods.includes('S256'), 'expected S256: PKCE is required'),
});
export type IssuerMetadata = z.output<typeof IssuerMetadata>;

/** A client at the issuer. */
export const IssuerClient = z.object({
  clientId: Text.min(1),
  /** Secret of a client that Toolyard registered; that of a definition stays in the environment. */
  clientSecret: Text.exactOptional(),
  method: z.enum(['none', 'client_secret_basic', 'client_secret_post']),
});
export type IssuerClient = z.output<typeof IssuerClient>;

/** Facts by which a person who comes back is checked. */
export const StartedAuthorization = z.object({
  name: z.string(),
  tenantId: z.string(),
  binding: z.string(),
  issuer: Issuer,
  client: IssuerClient,
  verifier: z.string(),
  redirectUri: z.string(),
  resource: z.string().exactOptional(),
});
export type StartedAuthorization = z.output<typeof StartedAuthorization>;

/** Tokens that a source has. */
export const Granted = z.object({
  issuer: Issuer,
  client: IssuerClient,
  resource: z.string().exactOptional(),
  accessToken: z.string(),
  refreshToken: z.string().exactOptional(),
  /** Time at which the token is renewed, ms since the epoch, by the clock of Redis. Absent: when the server refuses it. */
  endsAt: z.number().exactOptional(),
  scope: z.string().exactOptional(),
});
export type Granted = z.output<typeof Granted>;

/** True if an issuer may take both for tokens of one grant. */
export function hasSameClient(one: Granted, other: Granted): boolean {
  return one.issuer.issuer === other.issuer.issuer && one.client.clientId === other.client.clientId;
}

/** The most bytes of an authorization, begun or granted, in Redis. */
const MAX_STORED_BYTES = 8_192;

/** The text to be stored, without what is not needed. @throws IssuerRefusal that says what is too large */
export function storedText(schema: typeof StartedAuthorization | typeof Granted, value: StartedAuthorization | Granted): string {
  const read = schema.safeParse(value);
  if (!read.success) throw new IssuerRefusal(`what the issuer gave cannot be stored: ${issuesText(read.error)}`);
  const text = JSON.stringify(read.data);
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_STORED_BYTES)
    throw new IssuerRefusal(`what the server and the issuer gave has ${bytes} bytes, expected at most ${MAX_STORED_BYTES}`);
  return text;
}

export function issuesText({ issues }: z.ZodError): string {
  const texts = issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  return texts.join('; ').slice(0, 300);
}

/** Ten years: an end that is later is no end. */
const MAX_SECONDS = 315_360_000;
const Token = z.string().regex(/^[\x21-\x7e]{1,16384}$/);

/** The answer of a token endpoint, besides what the library checks. */
export const TokenAnswer = z.object({
  access_token: Token,
  token_type: z.string().refine((type) => type.toLowerCase() === 'bearer'),
  refresh_token: Token.exactOptional(),
  expires_in: z
    .number()
    .min(0)
    .transform((seconds) => Math.min(seconds, MAX_SECONDS))
    .exactOptional(),
  scope: z.string().max(4_096).exactOptional(),
});
