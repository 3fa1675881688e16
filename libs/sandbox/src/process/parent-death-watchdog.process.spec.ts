import { spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { transform } from '@swc/core';
import { eventually, isAlive, pidsIn } from '../testing/process.fixture.js';

let folder: string;

/** Compiles this folder's sources beside a small main program, since a separate worker needs plain JavaScript. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'orphan-watch-'));
  const here = join(process.cwd(), 'libs/sandbox/src/process');
  for (const file of (await readdir(here)).filter((name) => !name.includes('.spec.'))) {
    const { code } = await transform(await readFile(join(here, file), 'utf8'), {
      swcrc: false,
      module: { type: 'es6' },
      jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
    });
    await writeFile(join(folder, file.replace(/\.ts$/, '.js')), code);
  }
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  await writeFile(
    join(folder, 'main.js'),
    `import { runProcess } from './run-process.js';
     const [script, cwd] = process.argv.slice(2);
     await runProcess({ file: '/bin/bash', args: ['-c', script], cwd, env: { PATH: '/usr/bin:/bin' } }, { signal: new AbortController().signal, graceMs: 1000 });`,
  );
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('when a worker is killed without a goodbye', () => {
  it('ends commands, their children and detached grandchildren with their killed worker', async () => {
    const pids = join(folder, 'pids');
    const script = `echo $$ >> ${pids}; sleep 300 & echo $! >> ${pids}; setsid env -i /bin/bash -c 'trap "" TERM HUP; echo $$ >> ${pids}; while :; do /bin/sleep 0.1; done' & wait`;
    const worker = spawn(process.execPath, [join(folder, 'main.js'), script, folder], { stdio: 'ignore' });
    const running = await eventually(() => pidsIn(pids, 3));
    expect(running.filter(isAlive)).toEqual(running);
    worker.kill('SIGKILL');
    await eventually(() => running.filter(isAlive).length === 0);
  });

  it('exits a process without work', async () => {
    const worker = spawn(process.execPath, [join(folder, 'main.js'), 'true', folder], { stdio: 'ignore' });
    const code = await new Promise((resolve) => worker.once('exit', resolve));
    expect(code).toBe(0);
  });
});
