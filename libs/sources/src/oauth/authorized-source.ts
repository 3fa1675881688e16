import type { McpAuthorizationCode, StoredSource } from '#contracts';

/** An MCP server for which a person lets Toolyard have tokens. */
export interface AuthorizedSource {
  readonly url: string;
  readonly auth: McpAuthorizationCode;
  /** Hosts of the definition: the only ones besides. */
  readonly hosts: readonly string[] | undefined;
  /** Tokens belong to exactly this: those of another tenant, server or client cannot be opened. */
  readonly binding: string;
}

/** Undefined for a source that no person authorizes. */
export function authorizedSource({ tenantId, definition }: StoredSource): AuthorizedSource | undefined {
  if (definition.kind !== 'mcp' || definition.auth?.type !== 'authorizationCode' || definition.url === undefined) return undefined;
  const { name, url, auth, egress: hosts } = definition;
  return { url, auth, hosts, binding: JSON.stringify([tenantId, name, url, auth]) };
}
