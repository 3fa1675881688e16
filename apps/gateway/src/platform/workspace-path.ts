/**
 * Folder of a session, or of calls without one, below a root, in the layout of workers. Tenants and sessions are labels, which
 * cannot lead outside of it.
 */
export function workspacePath(root: string, { tenantId, sessionId }: { readonly tenantId: string; readonly sessionId?: string }): string {
  return `${root}${root.endsWith('/') ? '' : '/'}${tenantId}/${sessionId === undefined ? 'default' : `sessions/${sessionId}`}`;
}
