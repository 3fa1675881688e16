// Makes dist/program, the folder that images and the package @toolyard/cli ship: the programs as a few files, which take Node a
// quarter of the time to import that the 2,500 compiled ones take. Each file that is started or found by its name stays where it
// was compiled and imports its part of the bundle. Scripts, pages and documents are copied beside.
// Each build has a folder of its own in dist/programs, and dist/program is a link to the newest: programs and pages of an
// installation that runs meanwhile keep their files.
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, posix, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const DIST = join(ROOT, 'dist');
const LINK = join(DIST, 'program');
const BUILDS = join(DIST, 'programs');
/** Builds that are kept, with the new one. */
const KEPT = 4;
// As text, newer builds are greater.
const name = new Date().toISOString().replaceAll(/\D/g, '');
const PROGRAM = join(BUILDS, name);
const PARTS = 'bundle';
/** Packages that are not in the bundle: modules find them or their files by name, for threads and pages. */
const BY_NAME = ['@vscode/tree-sitter-wasm', 'node-html-markdown', 'parse5', 'pino-pretty', 'unpdf', 'ws'];
/** Of decorators, which run before the bundle of their program has imported it. */
const POLYFILL = 'reflect-metadata';

/** Files that are started or found by their name: apps, tools, threads that are ES modules, and what the command line tool imports. */
const ENTRIES =
  /^(apps\/(gateway|worker|projector|standalone)\/src\/main|libs\/tools\/src\/[^/]+\/[^/]+\.tool|libs\/.*\.thread|libs\/[^/]+\/src\/index)\.js$/;
/** Copied as they are. The command line tool has a bundle of its own, and the dashboard. */
const COPIED = /^(apps|libs)\/.*(\.(lua|cjs|json)|\/isolation\/etc\/[^/]+)$|^apps\/dashboard\/|^cli\/|^documents\//;

const compiled = readdirSync(DIST, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => relative(DIST, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
  .filter((file) => !/^(programs?|packages|test)\//.test(file));

const entries = compiled.filter((file) => ENTRIES.test(file));
await build({
  root: ROOT,
  configFile: false,
  logLevel: 'error',
  plugins: [keepPlaces()],
  ssr: { noExternal: true, target: 'node' },
  build: {
    ssr: true,
    target: 'node20',
    outDir: join(PROGRAM, 'dist', PARTS),
    copyPublicDir: false,
    minify: false,
    sourcemap: true,
    license: { fileName: 'licenses.md' },
    rolldownOptions: {
      input: { [POLYFILL]: POLYFILL, ...Object.fromEntries(entries.map((file) => [file.replace(/\.js$/, ''), join(DIST, file)])) },
      external: BY_NAME,
      treeshake: false,
      output: { entryFileNames: '[name].js', chunkFileNames: 'chunks/[name]-[hash].js' },
    },
  },
});
for (const file of entries) put(`dist/${file}`, starterOf(file));
for (const file of compiled.filter((name) => COPIED.test(name))) cpSync(join(DIST, file), join(PROGRAM, 'dist', file));
const command = join(ROOT, 'apps/cli/toolyard.mjs');
if (existsSync(command)) cpSync(command, join(PROGRAM, 'apps/cli/toolyard.mjs'));
put('package.json', `${JSON.stringify(manifest(), undefined, 2)}\n`);
switchToThis();

function switchToThis() {
  // A folder, from a release without dist/programs, cannot be replaced by a link.
  if (lstatSync(LINK, { throwIfNoEntry: false })?.isDirectory()) rmSync(LINK, { recursive: true });
  const link = `${LINK}.${process.pid}`;
  rmSync(link, { force: true });
  symlinkSync(join('programs', name), link);
  renameSync(link, LINK);
  for (const old of readdirSync(BUILDS).sort().slice(0, -KEPT)) rmSync(join(BUILDS, old), { recursive: true, force: true });
}

function manifest() {
  const {
    name: packageName,
    version,
    type,
    engines,
    imports,
    dependencies,
    optionalDependencies,
  } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const built = Object.fromEntries(Object.entries(imports).map(([as, { default: file }]) => [as, file]));
  const loaded = Object.fromEntries(BY_NAME.map((as) => [as, dependencies[as]]));
  return { name: packageName, version, type, engines, imports: built, dependencies: loaded, optionalDependencies };
}

function put(file, text) {
  mkdirSync(dirname(join(PROGRAM, file)), { recursive: true });
  writeFileSync(join(PROGRAM, file), text);
}

function starterOf(file) {
  const part = (name) => posix.relative(posix.dirname(file), `${PARTS}/${name}`);
  return `import '${part(`${POLYFILL}.js`)}';\nexport * from '${part(file)}';\n`;
}

/** Modules find the files beside them where they were compiled, relative to the part of the bundle. */
function keepPlaces() {
  const place = /__PLACE_OF__\("([^"]+)"\)/g;
  return {
    name: 'keep-places',
    load(id) {
      if (!id.startsWith(`${DIST}/`)) return null;
      return { code: readFileSync(id, 'utf8'), map: JSON.parse(readFileSync(`${id}.map`, 'utf8')) };
    },
    transform(code, id) {
      if (!id.startsWith(`${DIST}/`) || !code.includes('import.meta')) return null;
      const file = relative(DIST, id).replaceAll('\\', '/');
      return code
        .replaceAll('import.meta.url', `__PLACE_OF__("${file}")`)
        .replaceAll('import(`./', `import(\`\${new URL('./', __PLACE_OF__("${file}")).href}`);
    },
    renderChunk(code, { fileName }) {
      if (!place.test(code)) return null;
      return code.replaceAll(place, (_all, file) => {
        return `new URL("${posix.relative(posix.dirname(`${PARTS}/${fileName}`), file)}", import.meta.url).href`;
      });
    },
  };
}
