import { fieldsOf, listOf, textOf, type Fields } from '../fields.js';

export interface ServerRules {
  /** Address set by the operator, instead of the servers of the document. */
  readonly url: string | undefined;
  /** Address of the document, to which relative addresses of servers are resolved. */
  readonly documentUrl: string | undefined;
  /** Requests carry secrets, and the document came over the network: its servers must have the origin of the document. */
  readonly sameOrigin: boolean;
}

/** The base URL of an operation, without a slash at the end. @throws Error in words for the operator */
export function serverOf(levels: readonly Fields[], { url, documentUrl, sameOrigin }: ServerRules): string {
  if (url !== undefined) return url.replace(/\/+$/, '');
  const servers = levels.map((it) => listOf(it['servers']).map(fieldsOf)).find((it) => it.length > 0);
  const texts = servers?.map(withVariables) ?? [documentUrl === undefined ? undefined : '/'];
  // A document that is not read from the network has no address to which a relative one could belong.
  const text = texts.find((it) => it !== undefined && URL.canParse(it, documentUrl));
  if (text === undefined)
    throw new Error('the document names no server with a complete address: say `url` in the definition of the source');
  const parsed = new URL(text, documentUrl);
  if (!['http:', 'https:'].includes(parsed.protocol) || parsed.username !== '' || parsed.search !== '' || parsed.hash !== '')
    throw new Error('expected an http or https server without credentials, query and fragment: say `url` in the definition of the source');
  if (sameOrigin && documentUrl !== undefined && parsed.origin !== new URL(documentUrl).origin)
    throw new Error(
      `its server ${parsed.origin.slice(0, 200)} is not where the document came from, and secrets are not sent there: say \`url\` in the definition of the source`,
    );
  return `${parsed.origin}${parsed.pathname}`.replace(/\/+$/, '');
}

/** The beginning of an address without a scheme. */
const HOST = /^(?:[a-z\d-]+\.)+[a-z]{2,}(?::\d{1,5})?(?=\/|$)/i;

/** Variables have their defaults, or else the first of their values; undefined where one has neither. */
function withVariables(server: Fields): string | undefined {
  const variables = fieldsOf(server['variables']);
  let isComplete = true;
  // Default `/`: the address of the document.
  const text = (textOf(server['url']) ?? '/').trim().replace(/\{([^{}]*)\}/g, (_, name: string) => {
    const variable = Object.hasOwn(variables, name) ? fieldsOf(variables[name]) : {};
    const value = variable['default'] ?? listOf(variable['enum'])[0];
    if (typeof value === 'string' || typeof value === 'number') return String(value);
    isComplete = false;
    return '';
  });
  // Addresses without a scheme are meant for the web.
  return isComplete ? text.replace(/^\/\//, 'https://').replace(HOST, 'https://$&') : undefined;
}
