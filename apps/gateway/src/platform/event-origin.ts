import type { Principal } from '#contracts';
import type { EventOrigin } from '#event-log';

/** Who an event of this gateway is by: the process that wrote it and the key it acted for. */
export function eventOrigin(gatewayName: string, principal: Principal): EventOrigin {
  return { source: `/gateway/${gatewayName}`, actor: `apikey:${principal.keyId}` };
}
