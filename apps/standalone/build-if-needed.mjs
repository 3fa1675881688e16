// Compiles into dist/ (SWC for the server side, Vite for the dashboard; `npm run typecheck` checks the types) when a source is newer than the last build, so that `npm start` is one command on a fresh clone and
// quick when nothing changed. "Newer" means: path, size or time of any source differs from what the last build saw.
// `--always` builds in any case (`npm run build`).
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const stamp = join(root, 'dist', '.build-stamp');
const SOURCES = ['apps', 'libs'];
const SETTINGS = ['package.json', 'package-lock.json', 'tsconfig.json', '.swcrc', 'apps/standalone/build-if-needed.mjs'];
const SHIPPED = /\.(tsx?|lua|json|html|css|svg)$|\/sandbox\/etc\/[^/]+$/;
const FOR_TESTS = /\.(spec|contract)\.ts$|\/libs\/[^/]+\/src\/testing\//;
/** Files outside of `SOURCES` that are compiled too, since they run in processes of their own. */
const BENCH = 'test/bench';

function* filesOf(path) {
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const below = join(path, entry.name);
    if (entry.isDirectory() && entry.name !== 'node_modules') yield* filesOf(below);
    else if (SHIPPED.test(below) && !FOR_TESTS.test(below)) yield below;
  }
}

function fingerprint() {
  const hash = createHash('sha256');
  for (const file of [
    ...SOURCES.flatMap((folder) => [...filesOf(join(root, folder))]),
    ...SETTINGS.map((file) => join(root, file)),
  ].sort()) {
    const { size, mtimeMs } = statSync(file);
    hash.update(`${file}\0${size}\0${mtimeMs}\n`);
  }
  return hash.digest('hex');
}

/** Every TypeScript file becomes a JavaScript file in dist/; Lua scripts and the sandbox's files are copied. @throws on a syntax error */
async function compile() {
  const { transformFile } = await import('@swc/core');
  const folders = [...SOURCES, BENCH].map((folder) => join(root, folder)).filter((folder) => existsSync(folder));
  const files = folders.flatMap((folder) => [...filesOf(folder)]);
  await Promise.all(
    files.map(async (file) => {
      const path = relative(root, file);
      if (path.startsWith('apps/dashboard/') || /\.d\.m?ts$|\.tsx$/.test(path)) return;
      const target = join(root, 'dist', path);
      if (/\.lua$|\/sandbox\/etc\/[^/]+$/.test(path)) {
        mkdirSync(dirname(target), { recursive: true });
        copyFileSync(file, target);
      }
      if (!path.endsWith('.ts')) return;
      const { code, map } = await transformFile(file, {
        configFile: join(root, '.swcrc'),
        sourceFileName: relative(dirname(target), file),
      });
      mkdirSync(dirname(target), { recursive: true });
      const script = target.replace(/\.ts$/, '.js');
      writeFileSync(script, `${code}//# sourceMappingURL=${basename(script)}.map\n`);
      writeFileSync(`${script}.map`, map);
    }),
  );
}

function run(...command) {
  // Whoever starts it (a test run, say): what is built is what is shipped, React without its checks for development.
  const env = { ...process.env, NODE_ENV: 'production' };
  return spawnSync(process.execPath, command, { cwd: root, env, stdio: ['ignore', 'inherit', 'inherit'] }).status === 0;
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

const now = fingerprint();
const main = join(root, 'dist/apps/standalone/src/main.js');
const always = process.argv.includes('--always');
if (!always && existsSync(main) && existsSync(stamp) && readFileSync(stamp, 'utf8') === now) process.exit(0);

const vite = join(root, 'node_modules/vite/bin/vite.js');
if (!existsSync(vite)) fail('The packages are not installed. Run `npm ci` first, then `npm start` again.');
console.log(always ? 'Building …' : 'Building, since something changed …');
try {
  await compile();
} catch (error) {
  fail(`The build failed: ${error.message}\nCorrect it and start again.`);
}
const dashboard = join(root, 'apps/dashboard/vite.config.ts');
if (existsSync(dashboard) && !run(vite, 'build', '--config', dashboard, '--logLevel', 'warn'))
  fail('Building the dashboard failed; what Vite said is above. Correct it and start again.');
writeFileSync(stamp, now);
