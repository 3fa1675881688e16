import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { SafetySettings, withTenantSafety } from '#contracts';
import { readGatewayConfig } from './gateway.config.js';

const folder = mkdtempSync(join(tmpdir(), 'toolyard-config-'));
afterAll(() => rmSync(folder, { recursive: true }));

const key = { TOOLYARD_API_KEY: 'a-key-that-is-long-enough' };

function file(text: string, name = 'toolyard.yaml'): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

function faultsOf(env: NodeJS.ProcessEnv): string {
  try {
    readGatewayConfig(env);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return '';
}

describe('the settings of the gateway', () => {
  it('completes the settings of the gateway from nothing but a key [PP-01]', () => {
    expect(readGatewayConfig(key)).toMatchObject({
      host: '127.0.0.1',
      port: 7411,
      partitions: 16,
      defaultPosture: { autonomy: 'supervised', permissionMode: 'workspace-write' },
      keys: [
        { id: 'bootstrap', tenant: 'default', agents: ['*'], scopes: ['submit', 'read', 'cancel', 'approve', 'admin', 'operate', 'work'] },
      ],
    });
  });

  it('refuses settings of the gateway with all faults at once', () => {
    const faults = faultsOf({ ...key, GATEWAY_PORT: 'x', PARTITIONS: '0', DURABILITY: 'maybe' });
    for (const name of ['GATEWAY_PORT', 'PARTITIONS', 'DURABILITY']) expect(faults).toContain(`${name}: `);
    expect(faults).toContain('GATEWAY_PORT: expected a whole number from 0 to 65535; got "x"');
  });

  it('refuses settings of the gateway without any key: authentication cannot be switched off', () => {
    expect(faultsOf({})).toMatch(/^TOOLYARD_API_KEY: /);
  });

  it('treats an empty variable as unset', () => {
    expect(readGatewayConfig({ ...key, GATEWAY_PORT: '', TOOLYARD_CONFIG: '' }).port).toBe(7411);
  });
});

describe('the config file', () => {
  it('adds keys and defaults from a config file, as YAML or JSON', () => {
    const yaml = file(
      'keys:\n  - { id: ci, key: sixteen-characters-at-least, tenant: acme, scopes: [submit, read], tools: ["file_*"] }\ndefaults:\n  posture: { permissionMode: prompt }\n',
    );
    const config = readGatewayConfig({ TOOLYARD_CONFIG: yaml });
    expect(config.keys).toEqual([expect.objectContaining({ id: 'ci', tenant: 'acme', tools: ['file_*'] })]);
    expect(config.defaultPosture).toEqual({ autonomy: 'supervised', permissionMode: 'prompt' });
    const json = file(JSON.stringify({ keys: [{ id: 'ci', sha256: 'a'.repeat(64), tenant: 'acme' }] }), 'toolyard.json');
    expect(readGatewayConfig({ TOOLYARD_CONFIG: json }).keys[0]?.scopes).toEqual(['submit', 'read', 'cancel']);
  });

  it('stops the start naming line and field of a fault in the config file', () => {
    const path = file(
      'keys:\n  - id: ci\n    key: sixteen-characters-at-least\n    tenant: acme\n    scopes: [submit, fly]\n    colour: red\n',
    );
    const faults = faultsOf({ TOOLYARD_CONFIG: path });
    expect(faults).toContain(`${path}:5: keys.0.scopes.1: `);
    expect(faults).toContain(`${path}:6: keys.0.colour: `);
  });

  it('names line and field of a fault in policies, agents and limits', () => {
    const path = file(
      'policy:\n  exclude: shell\nagents:\n  reader:\n    policy:\n      commands: { engines: [guess] }\n    colour: red\nlimits:\n  actionsPerHour: many\n',
    );
    const faults = faultsOf({ ...key, TOOLYARD_CONFIG: path });
    expect(faults).toContain(`${path}:2: policy.exclude: `);
    expect(faults).toContain(`${path}:6: agents.reader.policy.commands.engines.0: `);
    expect(faults).toContain(`${path}:7: agents.reader.colour: `);
    expect(faults).toContain(`${path}:9: limits.actionsPerHour: `);
  });

  it('suggests the field that an unknown field of the config file probably means', () => {
    const path = file(
      'polcy: {}\nkeys:\n  - { id: ci, key: sixteen-characters-at-least, tenant: acme, agnt: a, colour: red }\ntenants:\n  acme:\n    agents:\n      a:\n        policy: { exclud: [shell] }\nlimits:\n  rates: [{ per: agent, calls: 1, windoMs: 100 }]\n',
    );
    const faults = faultsOf({ ...key, TOOLYARD_CONFIG: path }).split('\n');
    expect(faults).toEqual(
      expect.arrayContaining([
        `${path}:1: polcy: Unrecognized key: "polcy"; did you mean "policy"?`,
        `${path}:3: keys.0.agnt: Unrecognized key: "agnt"; did you mean "agent"?`,
        `${path}:3: keys.0.colour: Unrecognized key: "colour"`,
        `${path}:8: tenants.acme.agents.a.policy.exclud: Unrecognized key: "exclud"; did you mean "exclude"?`,
        `${path}:10: limits.rates.0.windoMs: Unrecognized key: "windoMs"; did you mean "windowMs"?`,
      ]),
    );
  });

  it('names the hook whose variable is not set: a hook before a call at the gateway, others only with a worker', () => {
    const hook = (on: string) =>
      `{ name: audit-${on}, on: ${on}, url: 'https://x.example', secretEnv: AUDIT_SECRET, headersEnv: { a: TOKEN } }`;
    const path = file(`hooks:\n  - ${hook('before')}\n  - ${hook('after')}\nagents:\n  bob:\n    hooks:\n      - ${hook('before')}\n`);
    const faults = faultsOf({ ...key, TOKEN: 'a token', AUDIT_SECRET: '', TOOLYARD_CONFIG: path }).split('\n');
    expect(faults).toEqual([
      `${path}:2: hooks.0.secretEnv: expected a variable of this process; AUDIT_SECRET is not set`,
      `${path}:7: agents.bob.hooks.0.secretEnv: expected a variable of this process; AUDIT_SECRET is not set`,
    ]);
    const [TOKEN, AUDIT_SECRET] = ['a token', 'a secret'];
    expect(faultsOf({ ...key, TOKEN, AUDIT_SECRET, TOOLYARD_CONFIG: path })).toBe('');
    const both = () => readGatewayConfig({ ...key, AUDIT_SECRET, TOOLYARD_CONFIG: path }, undefined, { withWorkers: true });
    expect(both).toThrow(`${path}:3: hooks.1.headersEnv.a: expected a variable of this process; TOKEN is not set`);
    expect(faultsOf({ ...key, TOKEN: '12345', AUDIT_SECRET, TOOLYARD_CONFIG: path })).toContain(
      'headersEnv.a: expected at least 6 characters in the variable TOKEN',
    );
  });

  it('separates the agents of tenants; those at the top level of the config file belong to the default tenant', () => {
    const top = 'agents: { bob: { tools: [echo] } }\n';
    const path = file(`${top}tenants: { acme: { agents: { bob: { tools: [shell] } } }, default: { agents: { ann: {} } } }\n`);
    expect(readGatewayConfig({ ...key, TOOLYARD_CONFIG: path }).agents).toEqual({
      acme: { bob: { tools: ['shell'] } },
      default: { bob: { tools: ['echo'] }, ann: {} },
    });
    const twice = file(`${top}tenants: { default: { agents: { bob: {} } } }\n`);
    expect(faultsOf({ ...key, TOOLYARD_CONFIG: twice })).toContain(`${twice}:1: agents.bob: expected the agent here or in tenants.default`);
  });

  it('adds the redaction settings of a tenant to the general ones, and refuses a weaker or too large setting', () => {
    const texts = (count: number, name: string) => [...Array(count).keys()].map((at) => `${name}-${at}`);
    const faults = (safety: object, general: object = {}) =>
      faultsOf({ ...key, TOOLYARD_CONFIG: file(JSON.stringify({ safety: general, tenants: { acme: { safety } } })) });
    const off = { redaction: { enabled: false } };
    const path = file(JSON.stringify({ safety: off, tenants: { acme: { safety: { redaction: { names: ['recipe'] } } } } }));
    const { safety, tenantRules } = readGatewayConfig({ ...key, TOOLYARD_CONFIG: path });
    const added = tenantRules?.['acme']?.safety ?? {};
    expect(withTenantSafety(safety ?? SafetySettings.parse({}), added).redaction).toMatchObject({ enabled: true, names: ['recipe'] });
    expect(faults({ provenance: { mark: true }, anomaly: { enabled: true }, redaction: { entropy: true } })).toBe('');
    expect(faults({ provenance: { mark: false } })).toContain('safety.provenance.mark: expected true, or nothing');
    expect(faults({ redaction: { enabled: false } })).toContain('tenants.acme.safety.redaction');
    const [own, general] = [texts(300, 'of-acme'), texts(300, 'of-all')];
    const many = faults({ redaction: { values: own } }, { redaction: { values: general } });
    expect(many).toContain('tenants.acme.safety.redaction.values');
    expect(many).toContain('together with safety.redaction.values');
  });

  it('refuses a key of another tenant for an agent of the top level, and states where the agent belongs', () => {
    const fields = 'key: sixteen-characters-at-least, tenant: acme';
    for (const line of [`agent: bob`, `agents: [ann, bob]`]) {
      const path = file(`agents: { bob: {} }\nkeys:\n  - { id: ci, ${fields}, ${line} }\n`);
      const faults = faultsOf({ TOOLYARD_CONFIG: path });
      expect(faults).toContain(`${path}:3: keys.0.${line.split(':')[0]}: the key ci of the tenant acme acts for the agent bob`);
      expect(faults).toContain('expected it in tenants.acme.agents.bob');
    }
    const free = file(`agents: { bob: {} }\nkeys: [{ id: ci, ${fields}, agent: eve, agents: ['*'] }]\n`);
    expect(readGatewayConfig({ TOOLYARD_CONFIG: free }).keys[0]).toMatchObject({ agent: 'eve', agents: ['*'] });
  });

  it('removes the last key of a running gateway when the config file does, but starts no gateway without a key', () => {
    const path = file('keys: [{ id: ci, key: sixteen-characters-at-least, tenant: acme }]');
    const running = readGatewayConfig({ TOOLYARD_CONFIG: path }).file;
    file('{"keys": []}');
    expect(running?.read().keys).toEqual([]);
    expect(faultsOf({ TOOLYARD_CONFIG: path })).toMatch(/^TOOLYARD_API_KEY: /);
    for (const cut of ['{}', 'policy: {}']) {
      file(cut);
      expect(() => running?.read()).toThrow('TOOLYARD_API_KEY: ');
    }
  });

  it('ignores a config file that is empty during a write, but starts with an empty one', () => {
    const path = file('keys: [{ id: ci, key: sixteen-characters-at-least, tenant: acme }]');
    const env = { TOOLYARD_CONFIG: path, TOOLYARD_API_KEY: 'key-of-the-environment' };
    const running = readGatewayConfig(env).file;
    for (const empty of ['', '\n', '# later\n', '---\n']) {
      file(empty);
      expect(() => running?.read()).toThrow(`${path}: expected settings, received an empty file; {} takes all settings back`);
      expect(readGatewayConfig(env).keys).toHaveLength(1);
    }
    file('{}');
    expect(running?.read().keys).toHaveLength(1);
  });

  it('refuses globs that no name of an agent can fit', () => {
    const path = file('keys:\n  - { id: ci, key: sixteen-characters-at-least, tenant: acme, agents: ["a b", "{a,b}"] }\n');
    expect(faultsOf({ TOOLYARD_CONFIG: path })).toContain(`${path}:2: keys.0.agents.1: expected 1 to 128 of the characters`);
  });

  it('stops the start for a config file that is missing, is not YAML, or has a key without text and digest', () => {
    expect(faultsOf({ TOOLYARD_CONFIG: file('keys: [\n  {id: a') })).toMatch(/:\d+: not valid YAML or JSON/);
    expect(faultsOf({ TOOLYARD_CONFIG: join(folder, 'missing.yaml') })).toContain('expected a readable file');
    expect(faultsOf({ TOOLYARD_CONFIG: file('keys:\n  - id: ci\n    tenant: acme\n') })).toContain('exactly one of `key` and `sha256`');
  });
});
