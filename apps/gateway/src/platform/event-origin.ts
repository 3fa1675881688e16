import type { Person, Principal } from '#contracts';
import type { EventOrigin } from '#event-log';

/** Origin of an event of this gateway: the process that wrote it, and the key or person it acted for. */
export function eventOrigin(gatewayName: string, principal: Principal): EventOrigin {
  const origin = { source: `/gateway/${gatewayName}`, actor: `apikey:${principal.keyId}` };
  return principal.person === undefined ? origin : { ...origin, actorname: personText(principal.person) };
}

/** Display name of a person: `Ada Example <ada@example.com>`, or its known parts. */
export function personText({ subject, name, email }: Person): string {
  if (name === undefined) return email ?? subject;
  return email === undefined ? name : `${name} <${email}>`;
}
