import { describe, expect, it } from '@jest/globals';
import type { Posture } from '#contracts';
import { banner, type BannerFacts } from './banner.js';

const ASKING: Posture = { autonomy: 'supervised', permissionMode: 'workspace-write' };

function textOf(more: Partial<BannerFacts>): string {
  return banner({
    url: 'http://127.0.0.1:7411',
    keyFile: '/data/key',
    keyToShow: undefined,
    redis: 'private',
    history: 'none',
    dataDirectory: '/data',
    foundByDefault: true,
    posture: ASKING,
    ownPostures: [],
    programs: { sandbox: undefined, ripgrep: true, hosts: [] },
    configFile: undefined,
    sources: [],
    toolFolders: [],
    tookMs: 1_000,
    ...more,
  });
}

/** The line of the start message about the posture. */
function postureLine(posture: Posture): string | undefined {
  return /^ {2}Posture +(.*)$/m.exec(textOf({ posture }))?.[1];
}

describe('the start message', () => {
  it('warns that the present posture asks for nothing, with the setting that changes it', () => {
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

  it('names in the start message sources, the failing ones with the reason, and the folders of tools', () => {
    expect(textOf({})).toContain(`
  Sources     none besides the built-in tools: toolyard sources add, or the config file
  Tools       no folder of your own: TOOLYARD_TOOLS names one
`);
    const reason = 'Connection refused at http://127.0.0.1:7699/mcp: is the server running?';
    const sources: BannerFacts['sources'] = [
      { name: 'folder', state: 'works' },
      { name: 'broken', state: 'fails', reason },
      { name: 'slow', state: 'connecting' },
      { name: 'pets', state: 'works' },
    ];
    expect(textOf({ sources, toolFolders: ['/home/ada/tools', '/srv/tools'] })).toContain(`
  Sources     4 sources, 1 failing, 1 connecting
              broken: ${reason}
  Tools       /home/ada/tools, /srv/tools
`);
    const hostile = `\u001b]52;c;eA==\u0007gone\r\n  Posture     none\u202e${'x'.repeat(900)}`;
    const shown = textOf({ sources: [{ name: 'pets', state: 'fails', reason: hostile }] });
    expect(shown).toContain(`pets: gone Posture none${'x'.repeat(100)}`);
    expect(shown).not.toContain('x'.repeat(300));
    expect(textOf({ sources: [{ name: 'pets', state: 'works' }] })).toContain('\n  Sources     1 source\n');
  });
});
