import { ProblemError, type Principal, type WorkerTool } from '#contracts';
import type { ApiKeyStore } from '../../auth/api-key-store.service.js';
import { isToolAllowed } from '../../auth/tool-patterns.js';

/** Problem of a worker whose current key does not allow it to announce and run these tools; undefined if the key does. */
export function keyRefusal(
  apiKeys: Pick<ApiKeyStore, 'rejection' | 'current'>,
  principal: Principal,
  source: string,
  tools: readonly WorkerTool[],
): ProblemError | undefined {
  const lost = apiKeys.rejection(principal, 'work');
  if (lost !== undefined) return lost;
  const current = apiKeys.current(principal) ?? principal;
  const refused = tools.filter(({ name }) => !isToolAllowed(current, { name, aliases: [], source })).map(({ name }) => name);
  if (refused.length === 0) return undefined;
  return new ProblemError(
    'forbidden',
    `Expected tools that the key may announce (${(current.tools ?? []).join(', ')}); got ${refused.slice(0, 10).join(', ')} besides`,
  );
}
