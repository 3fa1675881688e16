import { describe, expect, it } from '@jest/globals';
import type { TenantRetention } from '#contracts';
import { readGatewayConfig } from '../platform/gateway.config.js';
import { configChanges } from './config-changes.js';

const base = readGatewayConfig({ TOOLYARD_API_KEY: 'key-of-the-change-specs' });
const holdsOf = (before: TenantRetention, after: TenantRetention) =>
  configChanges({ ...base, retention: { held: before } }, { ...base, retention: { held: after } }).flatMap(({ holds }) => holds);

describe('changes of the config file', () => {
  it('lists each session and agent whose legal hold was set or lifted', () => {
    const before = { heldSessions: ['s1', 's2'], heldAgents: ['bob'] };
    expect(holdsOf(before, { legalHold: true, heldSessions: ['s2', 's3'], heldAgents: ['ann'] })).toEqual([
      { name: undefined, setting: 'legalHold', holds: true },
      { name: 's3', setting: 'heldSessions', holds: true },
      { name: 's1', setting: 'heldSessions', holds: false },
      { name: 'ann', setting: 'heldAgents', holds: true },
      { name: 'bob', setting: 'heldAgents', holds: false },
    ]);
    expect(holdsOf(before, {})).toHaveLength(3);
    expect(holdsOf(before, { ...before, historyDays: 3 })).toEqual([]);
  });
});
