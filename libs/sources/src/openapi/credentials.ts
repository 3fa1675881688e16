import type { OpenApiSourceDefinition } from '#contracts';
import { resolveSecrets } from '../definitions/resolve-secrets.js';

/** Parts of every request besides the arguments of the call. */
export interface Credentials {
  readonly headers: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly cookies: Readonly<Record<string, string>>;
  /** Values that must not leave the worker other than in requests. */
  readonly secrets: readonly string[];
}

/** @throws Error that names the variable that is not set */
export function credentialsOf(
  { headers = {}, auth }: Pick<OpenApiSourceDefinition, 'headers' | 'auth'>,
  env: Readonly<Record<string, string | undefined>>,
): Credentials {
  const plainHeaders = lowerCase(resolveSecrets(headers, env));
  const secrets = Object.entries(headers).flatMap(([name, value]) =>
    typeof value === 'string' ? [] : [plainHeaders[name.toLowerCase()] ?? ''],
  );
  const none = { headers: plainHeaders, query: {}, cookies: {}, secrets };
  if (auth === undefined) return none;
  switch (auth.type) {
    case 'bearer': {
      const { token = '' } = resolveSecrets({ token: auth.token }, env);
      return { ...none, headers: { ...plainHeaders, authorization: `Bearer ${token}` }, secrets: [...secrets, token] };
    }
    case 'basic': {
      const { username = '', password = '' } = resolveSecrets({ username: auth.username, password: auth.password }, env);
      const basic = Buffer.from(`${username}:${password}`).toString('base64');
      return { ...none, headers: { ...plainHeaders, authorization: `Basic ${basic}` }, secrets: [...secrets, basic, password] };
    }
    case 'apiKey': {
      const { value = '' } = resolveSecrets({ value: auth.value }, env);
      const all = [...secrets, value, encodeURIComponent(value)];
      if (auth.in === 'header') return { ...none, headers: { ...plainHeaders, [auth.name.toLowerCase()]: value }, secrets: all };
      return auth.in === 'query'
        ? { ...none, query: { [auth.name]: value }, secrets: all }
        : { ...none, cookies: { [auth.name]: value }, secrets: all };
    }
    case 'clientCredentials':
      // Token added for each call.
      return { ...none, secrets: [...secrets, resolveSecrets({ secret: auth.clientSecret }, env)['secret'] ?? ''] };
    default:
      return auth satisfies never;
  }
}

/** The same with a token that was issued for a request. */
export function withToken(to: Credentials, token: string): Credentials {
  return { ...to, headers: { ...to.headers, authorization: `Bearer ${token}` }, secrets: [...to.secrets, token] };
}

const lowerCase = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
