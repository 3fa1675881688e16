import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

let project = '';

/** A project as small as can be, with the real script and the real compiler. */
beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), 'toolyard-build-'));
  mkdirSync(join(project, 'apps/standalone/src'), { recursive: true });
  mkdirSync(join(project, 'libs'));
  for (const script of ['build-if-needed.mjs', 'bundle-programs.mjs'])
    copyFileSync(join('apps/standalone', script), join(project, 'apps/standalone', script));
  for (const file of ['package.json', 'package-lock.json', 'tsconfig.json', '.swcrc']) copyFileSync(file, join(project, file));
  symlinkSync(join(process.cwd(), 'node_modules'), join(project, 'node_modules'));
  writeFileSync(source(), 'export const answer: number = 42;\n');
});
afterEach(() => rmSync(project, { recursive: true, force: true }));

const source = () => join(project, 'apps/standalone/src/main.ts');
const program = () => join(project, 'dist/program');
const built = () => existsSync(join(program(), 'dist/apps/standalone/src/main.js'));

function run() {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(project, 'apps/standalone/build-if-needed.mjs')], {
    encoding: 'utf8',
  });
  return { status, building: stdout.includes('Building'), said: `${stdout}${stderr}` };
}

describe('build-if-needed', () => {
  it('builds in a fresh clone, skips an unchanged build, and builds again after a change', () => {
    expect(run()).toMatchObject({ status: 0, building: true });
    expect(built()).toBe(true);
    expect(run()).toMatchObject({ status: 0, building: false });
    utimesSync(source(), new Date(), new Date());
    expect(run()).toMatchObject({ status: 0, building: true });
  });

  it('leaves the files of the build before to programs and pages that were started from it', () => {
    expect(run().status).toBe(0);
    const first = realpathSync(program());
    const files = readdirSync(first, { recursive: true });
    for (let build = 1; build <= 2; build++) {
      writeFileSync(source(), `export const answer: number = ${build};\n`);
      expect(run().status).toBe(0);
    }
    expect(realpathSync(program())).not.toBe(first);
    expect(readdirSync(first, { recursive: true })).toEqual(files);
    const text = readFileSync(join(first, 'dist/bundle/apps/standalone/src/main.js'), 'utf8');
    expect(text).toContain('42');
  });

  it('removes builds but the three before, which programs may still run from', () => {
    const builds = join(project, 'dist/programs');
    const earlier = ['1', '2', '3', '4', '5'].map((day) => `2026010${day}000000000`);
    for (const name of earlier) mkdirSync(join(builds, name, 'dist'), { recursive: true });
    expect(run().status).toBe(0);
    expect(readdirSync(builds).sort()).toEqual([...earlier.slice(-3), basename(realpathSync(program()))]);
  });

  it('stops the start when the build fails, and tries again the next time', () => {
    writeFileSync(source(), 'export const answer: number = ;\n');
    const failed = run();
    expect(failed.status).toBe(1);
    expect(failed.said).toContain('The build failed:');
    expect(failed.said).toContain('apps/standalone/src/main.ts');
    expect(failed.said).toContain('Correct it and start again.');
    expect(run()).toMatchObject({ status: 1, building: true });
  });

  it('asks for npm ci when the packages are missing', () => {
    rmSync(join(project, 'node_modules'));
    expect(run()).toMatchObject({ status: 1, said: '\nThe packages are not installed. Run `npm ci` first, then `npm start` again.\n\n' });
  });
});
