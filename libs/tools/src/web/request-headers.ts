import { ToolError } from '#tool-sdk';
import type { HttpSecretStore } from './web.config.js';

export type HeaderValue = string | { readonly secret: string };

/** Headers that control the connection, or the target of a request: reserved for the worker. */
const RESERVED = /^(?:host|connection|content-length|transfer-encoding|te|trailer|upgrade|keep-alive|expect|proxy-.*)$/;
const NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/;
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const CONTROL = /[\u0000-\u0008\u000a-\u001f\u007f]/;
const LONGEST_VALUE = 8_192;

/** @throws ToolError for a header that may not be sent */
export function checkHeaders(headers: Readonly<Record<string, HeaderValue>>): void {
  for (const [name, value] of Object.entries(headers)) {
    if (!NAME.test(name)) throw invalid(name, 'its name has characters that no header may have');
    if (RESERVED.test(name.toLowerCase())) throw invalid(name, 'it is set by the worker itself');
    if (typeof value !== 'string') continue;
    if (CONTROL.test(value)) throw invalid(name, 'its value has line breaks or control characters');
    // oxlint-disable-next-line no-control-regex -- what a header can carry
    if (!/^[\u0009\u0020-\u00ff]*$/.test(value) || value.length > LONGEST_VALUE)
      throw invalid(name, 'its value is too long or is not Latin-1');
  }
}

/** Names in lower case, secrets by their values. @throws ToolError for a secret that this call may not send there */
export function headersWithSecrets(
  headers: Readonly<Record<string, HeaderValue>>,
  { host, tenantId }: { host: string; tenantId: string },
  secrets: HttpSecretStore,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => {
      if (typeof value === 'string') return [name.toLowerCase(), value];
      const found = secrets.valueOf(value.secret, host, tenantId);
      if (found === undefined)
        throw new ToolError(
          'policy_denied',
          `There is no secret ${value.secret.slice(0, 64)} for ${host}. The operator names secrets and their hosts in HTTP_SECRETS.`,
        );
      return [name.toLowerCase(), found];
    }),
  );
}

function invalid(name: string, why: string): ToolError {
  return new ToolError('invalid_arguments', `Invalid header ${JSON.stringify(name.slice(0, 100))}: ${why}.`);
}
