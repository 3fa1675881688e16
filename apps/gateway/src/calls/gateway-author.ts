import type { Principal } from '#contracts';
import type { Author } from '#event-log';

/** Who an event of this gateway is by: the process that wrote it and the key it acted for. */
export function authorOf(gatewayName: string, principal: Principal): Author {
  return { source: `/gateway/${gatewayName}`, actor: `apikey:${principal.keyId}` };
}
