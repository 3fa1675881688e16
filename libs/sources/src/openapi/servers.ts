import { fieldsOf, listOf, textOf, type Fields } from '../fields.js';

export interface ServerRules {
  /** What the operator says: the document is not asked. */
  readonly url: string | undefined;
  /** Where the document came from: relative addresses of servers begin here. */
  readonly documentUrl: string | undefined;
  /** Requests carry secrets, and the document came over the network: its servers must have the origin of the document. */
  readonly sameOrigin: boolean;
}

/** The base URL of an operation, without a slash at the end. @throws Error in words for the operator */
export function serverOf(levels: readonly Fields[], { url, documentUrl, sameOrigin }: ServerRules): string {
  if (url !== undefined) return url.replace(/\/+$/, '');
  const [server] = levels.map((it) => listOf(it['servers'])).find((servers) => servers.length > 0) ?? [];
  const text = server === undefined ? documentUrl && '/' : withVariables(fieldsOf(server));
  if (text === undefined || !URL.canParse(text, documentUrl))
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

function withVariables(server: Fields): string | undefined {
  const variables = fieldsOf(server['variables']);
  return textOf(server['url'])?.replace(/\{([^{}]*)\}/g, (_, name: string) => {
    const value = Object.hasOwn(variables, name) ? fieldsOf(variables[name])['default'] : undefined;
    return typeof value === 'string' ? value : '';
  });
}
