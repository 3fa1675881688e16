import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { ConfigFile } from '#contracts';
import { CliEnv } from '../apps/cli/src/cli.config.js';
import { GatewayEnv } from '../apps/gateway/src/platform/gateway-env.config.js';
import { ProjectorEnv } from '../apps/projector/src/projector.config.js';
import { StandaloneEnv } from '../apps/standalone/src/standalone.config.js';
import { WorkerEnv } from '../apps/worker/src/platform/worker-env.config.js';
import { renewed } from '../deploy/configuration-document.mjs';

const schemas = {
  apps: { gateway: GatewayEnv, worker: WorkerEnv, projector: ProjectorEnv, standalone: StandaloneEnv, cli: CliEnv },
  file: ConfigFile,
};
const document = readFileSync('deploy/CONFIGURATION.md', 'utf8');

describe('deploy/CONFIGURATION.md', () => {
  it('shows the tables that the schemas give in deploy/CONFIGURATION.md: run npm run generate', () => {
    expect(renewed(document, schemas)).toBe(document);
  });

  it('refuses to leave out a variable or field, to show one twice, or one that no schema has', () => {
    expect(() => renewed(document.replace('REDIS_URL, PARTITIONS', 'PARTITIONS'), schemas)).toThrow('expected a table with REDIS_URL');
    expect(() => renewed(document.replace('REDIS_URL, PARTITIONS', 'REDIS_URL, REDIS_URL'), schemas)).toThrow('REDIS_URL is in no schema');
    expect(() => renewed(document.replace('REDIS_URL, PARTITIONS', 'REDIS_URI, PARTITIONS'), schemas)).toThrow('REDIS_URI is in no schema');
  });

  it('describes each variable once, in the schema of one app', () => {
    const apps = { gateway: z.object({ A: z.string() }), worker: z.object({ A: z.string() }) };
    expect(() => renewed('<!-- variables: A -->\n<!-- end -->', { apps, file: z.object({}) })).toThrow('A: expected one description');
    const twice = { gateway: z.object({ A: z.string().describe('one') }), worker: z.object({ A: z.string().describe('two') }) };
    expect(() => renewed('<!-- variables: A -->\n<!-- end -->', { apps: twice, file: z.object({}) })).toThrow('got 2');
  });
});
