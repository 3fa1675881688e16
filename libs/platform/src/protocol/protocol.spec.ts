import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { RunningProcess } from '#contracts';
import { areCompatible, OLDEST_COMPATIBLE, OLDEST_READER, PROTOCOL, refusalToStart } from './protocol.js';

const release = (kind: RunningProcess['kind'], id: string, protocol: number, oldestCompatible: number, version = '1.0.0') => ({
  kind,
  id,
  protocol,
  oldestCompatible,
  version,
});
const anyRelease = fc
  .record({ protocol: fc.integer({ min: 1, max: 9 }), back: fc.nat(8) })
  .map(({ protocol, back }) => release('worker', 'w', protocol, Math.max(1, protocol - back)));

describe('the decision whether a process may start', () => {
  const own = release('gateway', 'g', 5, 4, '1.5.0');

  it.each([
    ['alone', [], undefined],
    ['beside the release before', [release('worker', 'w', 4, 4, '1.4.0')], undefined],
    ['beside a newer release that still works with it', [release('worker', 'w', 9, 5, '2.0.0')], undefined],
    ['on data that a newer release wrote and it can read', [], { version: '2.0.0', protocol: 9, oldestReader: 5 }],
  ])('allows the start of a process %s', (_what, others, data) => {
    expect(refusalToStart(own, others, data)).toBeUndefined();
  });

  it('refuses to start beside a release that is too old, with both versions and instructions', () => {
    const others = [release('gateway', 'same', 5, 4, '1.5.0'), release('worker', 'w', 3, 3, '1.3.0')];
    expect(refusalToStart(own, others, undefined)).toBe(
      'This gateway is version 1.5.0 (protocol 5) and cannot work beside the worker w, which is version 1.3.0 (protocol 3): protocol 5 works together with protocol 4 or newer. Stop every gateway and worker of protocol 3, then start the newer release, gateways first (deploy/README.md, "Upgrades"); a process that was killed counts for 10 s.',
    );
  });

  it('refuses to start beside a newer release that does not work with it', () => {
    expect(refusalToStart(own, [release('worker', 'w', 9, 6, '2.0.0')], undefined)).toMatch(
      /version 1\.5\.0 .* version 2\.0\.0 .* Stop every gateway and worker of protocol 5,/,
    );
  });

  it('refuses a downgrade that cannot read the data', () => {
    expect(refusalToStart(own, [], { version: '2.0.0', protocol: 9, oldestReader: 6 })).toBe(
      'The data in this Redis was written by version 2.0.0 (protocol 9) and can be read from protocol 6 on, but this gateway is version 1.5.0 (protocol 5): start version 2.0.0 or newer, or name another Redis in REDIS_URL.',
    );
  });

  it('decides the same about two processes, whichever starts first', () => {
    fc.assert(
      fc.property(anyRelease, anyRelease, (one, other) => {
        expect(areCompatible(one, other)).toBe(areCompatible(other, one));
        expect(refusalToStart(one, [other], undefined) === undefined).toBe(areCompatible(one, other));
        const older = one.protocol <= other.protocol ? one : other;
        const newer = older === one ? other : one;
        expect(areCompatible(one, other)).toBe(older.protocol >= newer.oldestCompatible);
      }),
    );
  });

  it('works beside protocols from the oldest that it names on, and no others', () => {
    const here = release('gateway', 'g', PROTOCOL, OLDEST_COMPATIBLE);
    const other = (protocol: number) => release('worker', 'w', protocol, protocol);
    expect(areCompatible(here, other(OLDEST_COMPATIBLE))).toBe(true);
    expect(areCompatible(here, { ...other(PROTOCOL + 1), oldestCompatible: PROTOCOL })).toBe(true);
    expect(areCompatible(here, other(OLDEST_COMPATIBLE - 1))).toBe(false);
    expect(OLDEST_READER).toBeLessThanOrEqual(PROTOCOL);
  });
});
