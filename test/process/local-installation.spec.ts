import { spawn } from 'node:child_process';
import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { startCli } from '../support/cli.js';
import { freePort } from '../support/free-port.mjs';
import { cleanUp, freshDirectory, spawnStandalone } from '../support/standalone.js';

afterEach(cleanUp);

const cli = (words: readonly string[], env: Record<string, string>) =>
  startCli(words, { url: '', env: { TOOLYARD_API_KEY: '', ...env } }).ended();

function example(env: Record<string, string>): Promise<{ code: number | null; said: string }> {
  const child = spawn(process.execPath, ['--enable-source-maps', 'dist/apps/examples/src/anthropic-agent.js'], {
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  child.stdout.on('data', (piece) => (said += String(piece)));
  child.stderr.on('data', (piece) => (said += String(piece)));
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, said })));
}

describe('an installation with a port and a data folder of its own', () => {
  it('finds an installation with its own port and folder by TOOLYARD_DATA alone: command line tool, doctor and examples', async () => {
    const app = await spawnStandalone(freshDirectory());
    await app.up();
    const address = join(app.data, 'address');
    expect(readFileSync(address, 'utf8')).toBe(`${app.url}\n`);
    expect(app.output()).toContain(`  export TOOLYARD_DATA=${app.data}\n  export TOOLYARD_URL=${app.url}\n`);

    const env = { TOOLYARD_DATA: app.data };
    expect(await cli(['call', 'shell', 'command=echo found'], env)).toMatchObject({ code: 0, out: 'found\n' });
    const { out } = await cli(['doctor'], env);
    expect(out).toContain(`ready at ${app.url} (from ${address})`);
    expect(out).toContain(`from ${join(app.data, 'key')};`);
    expect(await example(env)).toEqual({ code: 0, said: expect.stringContaining('The poem has 2 lines.') });

    app.signal('SIGTERM');
    await app.ended();
    expect(existsSync(address)).toBe(false);
    const away = await cli(['doctor'], env);
    expect(away.out).toContain(`the default, as there is no ${address}`);
  });
});

describe('an example without a gateway', () => {
  it('reports in one line what an example needs', async () => {
    const folder = freshDirectory();
    const { code, said } = await example({ TOOLYARD_DATA: folder });
    expect([code, said.trim().split('\n')]).toEqual([1, [expect.stringContaining(`No API key: there is no ${join(folder, 'key')}.`)]]);
  });

  it('sends no key of an example to another machine that the folder names', async () => {
    const folder = freshDirectory();
    const file = join(folder, 'address');
    writeFileSync(file, 'https://gateway.invalid\n');
    const { code, said } = await example({ TOOLYARD_DATA: folder, TOOLYARD_API_KEY: 'a-key-of-the-environment' });
    const why = `${file} names https://gateway.invalid, which is not this machine`;
    expect([code, said.trim().split('\n')]).toEqual([1, [expect.stringContaining(why)]]);
  });

  it('reports in one line that no gateway answers an example, with the places searched', async () => {
    const folder = freshDirectory();
    const url = `http://127.0.0.1:${await freePort()}`;
    writeFileSync(join(folder, 'key'), 'a-key-of-a-gateway-that-is-gone\n');
    writeFileSync(join(folder, 'address'), `${url}\n`);
    const { code, said } = await example({ TOOLYARD_DATA: folder });
    expect([code, said.trim().split('\n')]).toEqual([
      1,
      [expect.stringMatching(new RegExp(`^No answer from ${url}: .*Is .npm start. running`))],
    ]);
  });
});

describe('the banner of npm start', () => {
  it('reports in the banner of npm start the sandbox, the search program, and the config file', async () => {
    const data = freshDirectory();
    const file = join(data, 'toolyard.yaml');
    const hook = (name: string) => ({ name, on: 'before', command: 'true' });
    writeFileSync(file, JSON.stringify({ hooks: [hook('one')], agents: { coder: { hooks: [hook('two')] } } }));
    const app = await spawnStandalone(data, { TOOLYARD_CONFIG: file, SANDBOX: 'host' });
    await app.up();
    expect(app.output()).toContain(`\n  Config      ${file}: 1 agent, 2 hooks\n`);
    expect(app.output()).toMatch(new RegExp(`^ {2}Sandbox     none: commands run as ${userInfo().username}, with all rights`, 'm'));
    expect(app.output()).toMatch(/^ {2}Search {6}ripgrep$/m);

    app.signal('SIGTERM');
    await app.ended();
    const programs = freshDirectory();
    symlinkSync('/usr/bin/redis-server', join(programs, 'redis-server'));
    const bare = await spawnStandalone(freshDirectory(), { SANDBOX: 'none', PATH: programs });
    await bare.up();
    expect(bare.output()).toMatch(/^ {2}Sandbox {5}none: commands are refused/m);
    expect(bare.output()).toMatch(/^ {2}Search {6}none: file_search and glob fail/m);
    expect(bare.output()).toMatch(/^ {2}Config {6}none /m);
  });
});
