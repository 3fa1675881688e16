import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { readGatewayConfig } from '../platform/gateway.config.js';
import { LimitConfigService } from './limit-config.service.js';

describe('settings of limits', () => {
  const folder = mkdtempSync(join(tmpdir(), 'toolyard-limit-settings-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const read = (text: string) => {
    const file = join(folder, 'toolyard.yaml');
    writeFileSync(file, text);
    return readGatewayConfig({ TOOLYARD_API_KEY: 'a-key-for-the-settings-of-limits', TOOLYARD_CONFIG: file });
  };

  it('reads limits from the config file, and an agent’s own replace the general ones field by field', () => {
    const text = 'limits: { actionsPerHour: 20, argumentBytes: 1000 }\nagents:\n  bob: { limits: { actionsPerHour: 5 } }\n';
    const settings = new LimitConfigService(read(text));
    expect(settings.of('default', undefined)).toEqual({ actionsPerHour: 20, argumentBytes: 1000 });
    expect(settings.of('default', 'bob')).toEqual({ actionsPerHour: 5, argumentBytes: 1000 });
    expect(settings.of('default', 'eve')).toEqual({ actionsPerHour: 20, argumentBytes: 1000 });
    expect(settings.of('acme', 'bob')).toEqual({ actionsPerHour: 20, argumentBytes: 1000 });
  });

  it('replaces general limits by those of a tenant, and these by those of its agents', () => {
    const tenant =
      'tenants:\n  acme: { limits: { actionsPerHour: 7, queueDepth: 3 }, agents: { bob: { limits: { actionsPerHour: 5 } } } }\n';
    const settings = new LimitConfigService(read(`limits: { actionsPerHour: 20, argumentBytes: 1000 }\n${tenant}`));
    expect(settings.of('acme', undefined)).toEqual({ actionsPerHour: 7, argumentBytes: 1000, queueDepth: 3 });
    expect(settings.of('acme', 'eve')).toEqual(settings.of('acme', undefined));
    expect(settings.of('acme', 'bob')).toEqual({ actionsPerHour: 5, argumentBytes: 1000, queueDepth: 3 });
    expect(settings.of('default', 'bob')).toEqual({ actionsPerHour: 20, argumentBytes: 1000 });
  });

  it('sets no limits without settings', () => {
    expect(new LimitConfigService({}).of('default', 'bob')).toEqual({});
  });

  it('applies replaced limits from the next call on', () => {
    const settings = new LimitConfigService({});
    settings.prepare({ limits: { queueDepth: 7 }, agents: { acme: { bob: { limits: { actionsPerHour: 1 } } } } })();
    expect(settings.of('acme', 'bob')).toEqual({ queueDepth: 7, actionsPerHour: 1 });
  });

  it('refuses wrong limits with the line and the field', () => {
    expect(() => read('limits:\n  rates:\n    - { per: planet, calls: 1 }\n')).toThrow(/toolyard\.yaml:3: limits\.rates\.0\.per: /);
  });
});
