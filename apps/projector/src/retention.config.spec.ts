import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { cautiously } from './cautious-retention.js';
import { readRetention } from './retention.config.js';

const folder = mkdtempSync(join(tmpdir(), 'toolyard-retention-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const fileOf = (text: string) => {
  const path = join(folder, 'config.yaml');
  writeFileSync(path, text);
  return path;
};

describe('the retention of a projector', () => {
  it('uses the retention of the environment without a config file', () => {
    expect(readRetention({ retentionDays: 30 })).toEqual({ days: 30, archiveDays: undefined, tenants: {} });
    expect(readRetention({})).toEqual({ days: undefined, tenants: {} });
  });

  it('reads days and legal holds of tenants, regardless of other settings', () => {
    const configPath = fileOf(`
keys: [{ id: a, key: some-secret-of-16-chars, tenant: acme }]
tenants:
  acme: { retention: { historyDays: 7 } }
  held: { agents: {}, retention: { legalHold: true } }
  old: { retention: { historyDays: forever } }
  plain: { agents: {} }
`);
    expect(readRetention({ retentionDays: 30, configPath })).toEqual({
      days: 30,
      tenants: { acme: { historyDays: 7 }, held: { legalHold: true }, old: { historyDays: 'forever' }, plain: {} },
    });
    expect(readRetention({ configPath: fileOf('{}') })).toEqual({ days: undefined, tenants: {} });
  });

  it.each([
    ['tenants: { acme: { retention: { historyDays: 0 } } }', 'tenants.acme.retention.historyDays: '],
    ['tenants: { acme: { retention: { legalHold: yes please } } }', 'tenants.acme.retention.legalHold'],
    ['tenants: { acme: { retention: { legalHolds: true } } }', 'legalHolds'],
    ['', 'it is empty'],
    ['# tenants: all were cut\n', 'it is empty'],
    ['null', 'it is empty'],
    ['tenants: [', 'expected a readable YAML or JSON file'],
  ])('fails for the retention %s, so that nothing is deleted', (text, message) => {
    expect(() => readRetention({ retentionDays: 1, configPath: fileOf(text) })).toThrow(message);
  });

  it('fails for a missing retention file', () => {
    expect(() => readRetention({ retentionDays: 1, configPath: join(folder, 'none.yaml') })).toThrow(
      'TOOLYARD_CONFIG: expected a readable',
    );
  });
});

describe('a retention whose file loses settings', () => {
  const HOUR_MS = 3_600_000;
  const FULL = `tenants:
  held: { retention: { legalHold: true, historyDays: 1 } }
  long: { retention: { archiveDays: forever } }
  secret: { retention: { erasable: true } }
  short: { retention: { archiveDays: 2 } }
`;
  const KEPT = { days: 30, archiveDays: 9 };
  const full = {
    held: { legalHold: true, historyDays: 1 },
    long: { archiveDays: 'forever' },
    secret: { erasable: true },
    short: { archiveDays: 2 },
  };
  const start = () => {
    let time = 0;
    const read = cautiously(
      () => readRetention({ retentionDays: 30, archiveRetentionDays: 9, configPath: join(folder, 'config.yaml') }),
      () => time,
    );
    return (text: string, afterMs = 0) => {
      time += afterMs;
      fileOf(text);
      return read();
    };
  };

  it('shortens retention only after a file has been read twice with the same content, a period apart', () => {
    const read = start();
    expect(read(FULL)).toEqual({ ...KEPT, tenants: full });
    // A tenant without days has those of the environment: 30 and 9 are longer than 1 and 2.
    const cut = { ...full, held: { legalHold: true, historyDays: 30 }, short: { archiveDays: 9 } };
    expect(read('tenants: {}')).toEqual({ ...KEPT, tenants: cut });
    expect(read('tenants: {}', HOUR_MS - 1)).toEqual({ ...KEPT, tenants: cut });
    expect(read('tenants: {}', 1)).toEqual({ ...KEPT, tenants: {} });
  });

  it('adds to legal holds at once, and removes none at once', () => {
    const read = start();
    const held = (sessions: string, agents: string) =>
      `tenants: { acme: { retention: { heldSessions: [${sessions}], heldAgents: [${agents}] } } }`;
    read(held('s1, s2', 'ann'));
    const next = { tenants: { acme: { heldSessions: ['s1', 's2', 's3'], heldAgents: ['ann'] } } };
    expect(read(held('s2, s3', ''))).toMatchObject(next);
    expect(read(held('s2, s3', ''), HOUR_MS)).toMatchObject({ tenants: { acme: { heldSessions: ['s2', 's3'], heldAgents: [] } } });
  });

  it('restarts the waiting period when the retention file differs or fails in between', () => {
    const read = start();
    read(FULL);
    read('tenants: {}');
    expect(read(FULL, HOUR_MS)).toMatchObject({ tenants: { held: { legalHold: true } } });
    expect(read('tenants: {}', HOUR_MS)).toMatchObject({ tenants: { held: { legalHold: true } } });
    expect(() => read('', 1)).toThrow('it is empty');
    expect(read('tenants: {}', HOUR_MS)).toMatchObject({ tenants: { held: { legalHold: true } } });
    expect(read('tenants: {}', HOUR_MS)).toEqual({ ...KEPT, tenants: {} });
  });

  it('applies new holds and longer retention at once', () => {
    const read = start();
    read('{}');
    expect(read(FULL)).toMatchObject({ tenants: { held: { legalHold: true }, long: { archiveDays: 'forever' } } });
  });
});
