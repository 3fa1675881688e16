import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { Call } from '#contracts';
import { programOf } from '../support/app-program.js';
import { cleanUp, freshDirectory, spawnStandalone } from '../support/standalone.js';

afterAll(cleanUp);

/** The image and the version file name Node 24; the other tests run on the Node that started them. */
describe.each(['22', '24'])('Node %s', (version) => {
  it('runs npm start, the call that it prints for curl, and a clean stop on this version of Node', async () => {
    const node = install(version);
    expect(spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout).toMatch(new RegExp(`^v${version}\\.`));
    const app = await spawnStandalone(freshDirectory(), {}, [node, programOf('standalone')]);
    await app.up();
    const { stdout, stderr } = spawnSync('sh', ['-c', app.firstCall()], { encoding: 'utf8' });
    expect(stderr).toBe('');
    const call = Call.parse(JSON.parse(stdout));
    expect([call.status, call.outcome]).toEqual(['ended', 'completed']);
    expect(JSON.stringify(call.result)).toContain('hello');
    app.signal('SIGTERM');
    expect(await app.ended()).toEqual({ code: 0, signal: null });
    expect(app.output()).not.toMatch(/Warning|deprecated/i);
  });
});

it('names Node 24 in the image and in .nvmrc', () => {
  expect(readFileSync('.nvmrc', 'utf8').trim()).toBe('24');
  expect(readFileSync('deploy/Dockerfile', 'utf8')).toMatch(/^FROM node:24\b/m);
});

/** The npm registry has Node's programs as packages, which run no install script. Returns the path of the program. */
function install(version: string): string {
  const folder = freshDirectory();
  const name = `node-${process.platform}-${process.arch}`;
  const { status, stderr } = spawnSync('npm', ['install', '--prefix', folder, '--no-audit', '--no-fund', `${name}@${version}`], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`npm could not install ${name}@${version}:\n${stderr}`);
  return join(folder, 'node_modules', name, 'bin/node');
}
