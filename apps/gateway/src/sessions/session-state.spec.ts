import { describe, expect, it } from '@jest/globals';
import { NEW_SESSION, parseSession, applyPut } from './session-state.js';

describe('a stored session', () => {
  it('keeps the field names of a stored session, which gateways of other releases read', () => {
    const session = applyPut('key-a', NEW_SESSION, { posture: { autonomy: 'full' } });
    const stored = JSON.stringify(session);
    expect(JSON.parse(stored)).toMatchObject({ changedBy: ['key-a'], posture: { autonomy: 'full' }, epoch: 0, touchedAt: 0 });
    expect(Object.keys(session).sort()).toEqual(['changedBy', 'epoch', 'grants', 'posture', 'touchedAt']);
    expect(parseSession(stored)).toEqual(session);
  });

  it('reads a stored session without optional fields as unrestricted', () => {
    expect(parseSession('{"changedBy":["key-a"]}')).toEqual({ ...NEW_SESSION, changedBy: ['key-a'] });
  });
});
