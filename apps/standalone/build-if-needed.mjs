// Compiles into dist/ what changed since the last build, so that `npm start` is one command on a fresh clone and quick afterwards:
// the server side with SWC, the dashboard with Vite. `npm run typecheck` checks the types.
// "Changed" means: path, size or time of a source differs from what the last build saw. `--always` builds all (`npm run build`).
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const SETTINGS = [
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  '.swcrc',
  'apps/standalone/build-if-needed.mjs',
  'apps/standalone/bundle-programs.mjs',
];
/** Compiled file by file; the bench and what it shares with the tests are there since its processes run in Node without Jest. */
const SERVER = ['apps', 'libs', 'test/bench', 'test/support'];
/** Bundled: the dashboard and the libraries that run in the browser. */
const DASHBOARD = ['apps/dashboard', 'libs/client', 'libs/contracts', 'libs/subject'];
const SHIPPED = /\.(tsx?|lua|json|html|css|svg|thread\.cjs)$|\/isolation\/etc\/[^/]+$/;
/** Documents for the tool `introspect`: copied into dist/documents. */
const DOCUMENTS = ['README.md', 'apps', 'libs', 'deploy'];
const FOR_TESTS = /\.(spec|contract)\.ts$|\/libs\/[^/]+\/src\/testing\//;

function* filesOf(path) {
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const below = join(path, entry.name);
    if (entry.isDirectory() && entry.name !== 'node_modules') yield* filesOf(below);
    else if (SHIPPED.test(below) && !FOR_TESTS.test(below)) yield below;
  }
}

/** The sources below some folders; a folder that an image leaves out has none. */
function sourcesIn(folders) {
  const present = folders.map((folder) => join(root, folder)).filter((folder) => existsSync(folder));
  return present.flatMap((folder) => [...filesOf(folder)]);
}

function fingerprint(files) {
  const hash = createHash('sha256');
  for (const file of [...files, ...SETTINGS.map((setting) => join(root, setting))].sort()) {
    const { size, mtimeMs } = statSync(file);
    hash.update(`${file}\0${size}\0${mtimeMs}\n`);
  }
  return hash.digest('hex');
}

/** Every TypeScript file becomes a JavaScript file in dist/; Lua scripts, threads in CommonJS and the sandbox's files are copied. @throws on a syntax error */
async function compile(files) {
  const { transformFile } = await import('@swc/core');
  const written = new Set();
  const write = (target, put) => {
    mkdirSync(dirname(target), { recursive: true });
    put(target);
    written.add(target);
  };
  await Promise.all(
    files.map(async (file) => {
      const target = join(root, 'dist', relative(root, file));
      if (/\.lua$|\.thread\.cjs$|\/isolation\/etc\/[^/]+$/.test(file)) write(target, () => copyFileSync(file, target));
      if (!file.endsWith('.ts') || file.endsWith('.d.ts')) return;
      const { code, map } = await transformFile(file, {
        configFile: join(root, '.swcrc'),
        sourceFileName: relative(dirname(target), file),
      });
      const script = target.replace(/\.ts$/, '.js');
      write(script, () => writeFileSync(script, `${code}//# sourceMappingURL=${basename(script)}.map\n`));
      write(`${script}.map`, () => writeFileSync(`${script}.map`, map));
    }),
  );
  removeOthers(written);
}

function documents() {
  return DOCUMENTS.map((name) => join(root, name))
    .filter((path) => existsSync(path))
    .flatMap((path) => (statSync(path).isFile() ? [path] : readdirSync(path, { recursive: true }).map((name) => join(path, name))))
    .filter((path) => path.endsWith('.md') && !/[/](node_modules|decisions)[/]/.test(relative(root, path)));
}

function copyDocuments() {
  rmSync(join(root, 'dist/documents'), { recursive: true, force: true });
  for (const file of documents()) {
    const target = join(root, 'dist/documents', relative(root, file));
    mkdirSync(dirname(target), { recursive: true });
    copyFileSync(file, target);
  }
}

/** Tools are found by their file names: what a removed source left in dist/ must not be found. */
function removeOthers(written) {
  for (const folder of SERVER.map((name) => join(root, 'dist', name)).filter((path) => existsSync(path)))
    for (const name of readdirSync(folder, { recursive: true })) {
      const path = join(folder, name);
      if (!written.has(path) && !name.startsWith('dashboard') && statSync(path).isFile()) rmSync(path);
    }
}

function run(...command) {
  // Production build, even in a test run: React without its checks for development.
  const env = { ...process.env, NODE_ENV: 'production' };
  const child = spawn(process.execPath, command, { cwd: root, env, stdio: ['ignore', 'inherit', 'inherit'] });
  return new Promise((done) => child.once('close', (code) => done(code === 0)).once('error', () => done(false)));
}

/** Says what is made and how long it took; the seconds count meanwhile, so that it does not look like a hang. */
async function step(what, make) {
  const startedAt = performance.now();
  const seconds = () => `${((performance.now() - startedAt) / 1000).toFixed(0)} s`;
  const live = process.stdout.isTTY && !process.env.CI;
  process.stdout.write(live ? `Building ${what} …` : `Building ${what} …\n`);
  const timer = live
    ? setInterval(() => process.stdout.write(`\rBuilding ${what} … ${seconds()}`), 1_000)
    : setInterval(() => process.stdout.write(`  … ${seconds()}\n`), 4_000);
  const result = await make();
  clearInterval(timer);
  if (live) process.stdout.write(`\rBuilt ${what} in ${seconds()}${' '.repeat(12)}\n`);
  return result;
}

function fail(sentence) {
  console.error(`\n${sentence}\n`);
  process.exit(1);
}

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19))
  fail(
    `Toolyard needs Node 20.19 or newer; this is ${process.version}. Install a newer Node from https://nodejs.org or with your version manager.`,
  );

// An image ships dist/ without sources.
if (!existsSync(join(root, 'tsconfig.json'))) process.exit(0);

const stamp = join(root, 'dist', '.build-stamp');
const before = existsSync(stamp) ? readFileSync(stamp, 'utf8').split('\n') : [];
const serverSources = sourcesIn(SERVER).filter((file) => !file.startsWith(join(root, 'apps/dashboard')));
// Absent from a copy without the command line tool.
const cli = join(root, 'apps/cli/vite.config.mjs');
const hasCli = existsSync(cli);
const now = [fingerprint([...serverSources, ...documents(), ...(hasCli ? [cli] : [])]), fingerprint(sourcesIn(DASHBOARD))];
const always = process.argv.includes('--always');
const compiles =
  always ||
  now[0] !== before[0] ||
  !existsSync(join(root, 'dist/program/dist/apps/standalone/src/main.js')) ||
  (hasCli && !existsSync(join(root, 'dist/cli/main.js')));
const bundles = existsSync(join(root, 'apps/dashboard/vite.config.ts')) && (always || now[1] !== before[1]);
if (!compiles && !bundles) process.exit(0);

const vite = join(root, 'node_modules/vite/bin/vite.js');
if (!existsSync(vite)) fail('The packages are not installed. Run `npm ci` first, then `npm start` again.');
rmSync(stamp, { force: true });
if (compiles) {
  try {
    await step('gateway and worker', () => compile(serverSources));
    copyDocuments();
  } catch (error) {
    fail(`The build failed: ${error.message}\nCorrect it and start again.`);
  }
}
if (compiles && hasCli) {
  const bundle = () => run(vite, 'build', '--config', cli, '--logLevel', 'warn');
  if (!(await step('the command line tool', bundle))) fail('Building the command line tool failed; what Vite said is above.');
}
const bundle = () => run(vite, 'build', '--config', join(root, 'apps/dashboard/vite.config.ts'), '--logLevel', 'warn');
if (bundles && !(await step('the dashboard', bundle)))
  fail('Building the dashboard failed; what Vite said is above. Correct it and start again.');
const program = () => run(join(root, 'apps/standalone/bundle-programs.mjs'));
if (!(await step('the programs', program))) fail('Bundling the programs failed; what Vite said is above.');
writeFileSync(stamp, now.join('\n'));
