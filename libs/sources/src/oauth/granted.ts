import { z } from 'zod';

const HttpUrl = z.url({ protocol: /^https?$/ });
const Texts = z.array(z.string());

/** What counts of the metadata of an issuer (RFC 8414). */
export const Issuer = z.object({
  issuer: z.string(),
  authorization_endpoint: HttpUrl,
  token_endpoint: HttpUrl,
  registration_endpoint: HttpUrl.exactOptional(),
  revocation_endpoint: HttpUrl.exactOptional(),
  scopes_supported: Texts.exactOptional(),
  token_endpoint_auth_methods_supported: Texts.exactOptional(),
  id_token_signing_alg_values_supported: Texts.exactOptional(),
  authorization_response_iss_parameter_supported: z.boolean().exactOptional(),
  code_challenge_methods_supported: Texts.refine((methods) => methods.includes('S256'), 'expected S256: PKCE is required'),
});
export type Issuer = z.output<typeof Issuer>;

/** A client at the issuer. */
export const IssuerClient = z.object({
  clientId: z.string().min(1),
  /** Of a client that Toolyard registered; that of a definition stays in the environment. */
  clientSecret: z.string().exactOptional(),
  method: z.enum(['none', 'client_secret_basic', 'client_secret_post']),
});
export type IssuerClient = z.output<typeof IssuerClient>;

/** What a person who comes back is checked by. */
export const Begun = z.object({
  name: z.string(),
  tenantId: z.string(),
  binding: z.string(),
  issuer: Issuer,
  client: IssuerClient,
  verifier: z.string(),
  redirectUri: z.string(),
  resource: z.string().exactOptional(),
});
export type Begun = z.output<typeof Begun>;

/** Tokens that a source has. */
export const Granted = z.object({
  issuer: Issuer,
  client: IssuerClient,
  resource: z.string().exactOptional(),
  accessToken: z.string(),
  refreshToken: z.string().exactOptional(),
  /** When the token is renewed, ms since the epoch. Absent: when the server refuses it. */
  endsAt: z.number().exactOptional(),
  scope: z.string().exactOptional(),
});
export type Granted = z.output<typeof Granted>;

/** Ten years: an end that is later is no end. */
const MAX_SECONDS = 315_360_000;
const Token = z.string().regex(/^[\x21-\x7e]{1,16384}$/);

/** Of a token endpoint, besides what the library checks. */
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
