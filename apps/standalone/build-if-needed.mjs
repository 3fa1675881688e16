// Compiles into dist/ when a source is newer than the last build, so that `npm start` is one command on a fresh clone and
// quick when nothing changed. "Newer" means: path, size or time of any source differs from what the last build saw.
// `--always` builds in any case (`npm run build`).
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const stamp = join(root, 'dist', '.build-stamp');
const SOURCES = ['apps', 'libs'];
const SETTINGS = ['package.json', 'package-lock.json', 'nest-cli.json', 'tsconfig.json', 'apps/standalone/tsconfig.app.json'];

function* filesOf(path) {
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const below = join(path, entry.name);
    if (entry.isDirectory() && entry.name !== 'node_modules') yield* filesOf(below);
    else if (/\.(tsx?|lua|json|html|css|svg)$|\/sandbox\/etc\/[^/]+$/.test(below) && !entry.name.endsWith('.spec.ts')) yield below;
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

const nest = join(root, 'node_modules/@nestjs/cli/bin/nest.js');
const vite = join(root, 'node_modules/vite/bin/vite.js');
if (!existsSync(nest)) fail('The packages are not installed. Run `npm ci` first, then `npm start` again.');
console.log(always ? 'Building …' : 'Building, since something changed …');
const compiled = run(nest, 'build', 'standalone') && existsSync(main);
const dashboard = join(root, 'apps/dashboard/vite.config.ts');
const bundled = compiled && (!existsSync(dashboard) || run(vite, 'build', '--config', dashboard, '--logLevel', 'warn'));
if (!bundled) fail('The build failed; what the compiler said is above. Correct it and start again.');
writeFileSync(stamp, now);
