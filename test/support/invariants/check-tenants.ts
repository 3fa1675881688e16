import type { CallEvent } from '#contracts';
import { ofType } from './of-type.js';

/** I12: all events of a call are of one tenant, and so are the calls that it names: above it, replayed, and the one that started it. */
export function checkTenants(calls: ReadonlyMap<string, readonly CallEvent[]>): string[] {
  return [...calls].flatMap(([callId, events]) => {
    const tenants = new Set(events.map(({ tenantid }) => tenantid));
    const violations = tenants.size > 1 ? [`I12 ${callId}: its events are of the tenants ${[...tenants].join(', ')}`] : [];
    const [submitted] = ofType(events, 'call.submitted');
    const { parentCallId, rootCallId, replayOf, startedBy } = submitted?.data ?? {};
    for (const named of [parentCallId, rootCallId, replayOf, startedBy]) {
      const [other] = (named !== undefined && calls.get(named)) || [];
      if (other !== undefined && !tenants.has(other.tenantid))
        violations.push(`I12 ${callId}: of ${[...tenants].join(', ')} names ${named} of ${other.tenantid}`);
    }
    return violations;
  });
}
