import { describe, expect, it } from '@jest/globals';
import { NEW_SESSION, parseSession, putBy, storedSession } from './session-state.js';

describe('a stored session', () => {
  it('keeps the field names of a stored session, so that gateways of other releases read it', () => {
    const session = putBy('key-a', NEW_SESSION, { posture: { autonomy: 'full' } });
    const stored: unknown = JSON.parse(storedSession(session));
    expect(stored).toMatchObject({ changedBy: ['key-a'], posture: { autonomy: 'full' }, epoch: 0, touchedAt: 0 });
    expect(Object.keys(stored ?? {}).sort()).toEqual(['changedBy', 'epoch', 'grants', 'literalPaths', 'posture', 'touchedAt']);
  });

  it('keeps the keys that changed a stored session of an earlier release', () => {
    expect(parseSession('{"changedBy":["key-a"]}').changedBy).toEqual(['key-a']);
  });
});
