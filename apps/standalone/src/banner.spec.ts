import { describe, expect, it } from '@jest/globals';
import type { Posture } from '#contracts';
import { banner } from './banner.js';

/** The line of the start message about the posture. */
function postureLine(posture: Posture): string | undefined {
  const text = banner({
    url: 'http://127.0.0.1:7411',
    keyFile: '/data/key',
    keyToShow: undefined,
    redis: 'private',
    history: 'none',
    dataDirectory: '/data',
    foundByDefault: true,
    posture,
    ownPostures: [],
    programs: { sandbox: undefined, ripgrep: true, hosts: [] },
    configFile: undefined,
    tookMs: 1_000,
  });
  return /^ {2}Posture +(.*)$/m.exec(text)?.[1];
}

describe('the start message', () => {
  it('says of the posture that asks for nothing that it does so, and how to be asked', () => {
    expect(postureLine({ autonomy: 'full', permissionMode: 'danger-full-access' })).toBe(
      'full, danger-full-access: calls run without approval. To approve commands: DEFAULT_AUTONOMY=supervised DEFAULT_PERMISSION_MODE=workspace-write',
    );
  });

  it.each<Posture>([
    { autonomy: 'full', permissionMode: 'workspace-write' },
    { autonomy: 'full', permissionMode: 'prompt' },
    { autonomy: 'supervised', permissionMode: 'danger-full-access' },
    { autonomy: 'supervised', permissionMode: 'workspace-write' },
    { autonomy: 'read_only', permissionMode: 'danger-full-access' },
    { autonomy: 'read_only', permissionMode: 'read-only' },
  ])('names only $autonomy, $permissionMode in the start message', (posture) => {
    expect(postureLine(posture)).toBe(`${posture.autonomy}, ${posture.permissionMode}`);
  });
});
