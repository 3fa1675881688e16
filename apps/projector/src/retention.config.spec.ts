import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { readRetention } from './retention.config.js';

const folder = mkdtempSync(join(tmpdir(), 'toolyard-retention-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const fileOf = (text: string) => {
  const path = join(folder, 'config.yaml');
  writeFileSync(path, text);
  return path;
};

describe('the retention of a projector', () => {
  it('is that of the environment without a config file', () => {
    expect(readRetention({ retentionDays: 30 })).toEqual({ days: 30, archiveDays: undefined, tenants: {} });
    expect(readRetention({})).toEqual({ days: undefined, tenants: {} });
  });

  it('has days and legal holds of tenants, whatever else the file says', () => {
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
    expect(readRetention({ configPath: fileOf('') })).toEqual({ days: undefined, tenants: {} });
  });

  it.each([
    ['tenants: { acme: { retention: { historyDays: 0 } } }', 'tenants.acme.retention.historyDays: '],
    ['tenants: { acme: { retention: { legalHold: yes please } } }', 'tenants.acme.retention.legalHold'],
    ['tenants: { acme: { retention: { legalHolds: true } } }', 'legalHolds'],
    ['tenants: [', 'expected a readable YAML or JSON file'],
  ])('is an error for %s, so that nothing is deleted', (text, message) => {
    expect(() => readRetention({ retentionDays: 1, configPath: fileOf(text) })).toThrow(message);
  });

  it('is an error for a file that is not there', () => {
    expect(() => readRetention({ retentionDays: 1, configPath: join(folder, 'none.yaml') })).toThrow(
      'TOOLYARD_CONFIG: expected a readable',
    );
  });
});
