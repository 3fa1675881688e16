import type { Principal } from '#contracts';
import type { EventOrigin } from '#event-log';

/** The origin of an event of this gateway: the process that wrote it and the key it acted for. */
export function eventOrigin(gatewayName: string, principal: Principal): EventOrigin {
  return { source: `/gateway/${gatewayName}`, actor: `apikey:${principal.keyId}` };
}
