// `npm run packages`: makes the npm packages of this project in dist/packages, as folders and as tarballs.
//   @toolyard/cli         command line tool and standalone: dist/program, which has nearly all packages in its bundle
//   @toolyard/client      libs/client, bundled with the contracts
//   @toolyard/tool-sdk    the authors' part of libs/tool-sdk, bundled likewise
// Beside them what a release tells: CHANGELOG.md, its section of .github/CHANGELOG.md, and sbom.cdx.json, all packages that @toolyard/cli brings.
// The bundles are ES modules; CommonJS programs load them with require, which Node 20.19 and later can.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { releaseNotes } from './changelog.mjs';
import { bundleManifest, PROGRAM, programManifest, readmeOf } from './manifests.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const OUT = join(ROOT, 'dist/packages');
const DECLARATIONS = join(OUT, 'declarations');
const CONTRACTS = 'libs/contracts/src/index.d.ts';
/** Imports of this project's files in a declaration: `from './a.js'`, `import "./a.js"`, `import("./a.js")`. */
const NAMED = /(?:\bfrom|\bimport\(?)\s*["'](\.[^"']*|#contracts)["']/g;
const NODE_MODULES = /^(?![./]|#|node:|[A-Za-z]:)/;

const root = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

/** Entry → its source without the extension, from the names that the libraries have inside the project. */
const clientEntries = Object.fromEntries(
  Object.entries(root.imports)
    .filter(([name]) => name === '#client' || name.startsWith('#client/'))
    .map(([name, { source }]) => [name.slice('#client/'.length) || 'index', source.slice('./'.length, -'.ts'.length)]),
);

const BUNDLES = [
  { folder: 'client', library: 'libs/client', entries: clientEntries },
  { folder: 'tool-sdk', library: 'libs/tool-sdk', entries: { index: 'libs/tool-sdk/src/authors' } },
];

function run(command, args, cwd = ROOT) {
  const { status, stdout } = spawnSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed\n${stdout}`);
  return stdout;
}

async function makeBundle({ folder, library, entries }) {
  const target = join(OUT, folder);
  const externals = new Set();
  await build({
    root: ROOT,
    configFile: false,
    logLevel: 'error',
    build: {
      outDir: target,
      copyPublicDir: false,
      minify: false,
      target: 'node20',
      lib: {
        entry: Object.fromEntries(Object.entries(entries).map(([name, path]) => [name, join(ROOT, 'dist', `${path}.js`)])),
        formats: ['es'],
      },
      rolldownOptions: {
        external: (id) => NODE_MODULES.test(id) && externals.add(id) !== undefined,
        output: { entryFileNames: '[name].js', chunkFileNames: 'chunks/[name].js' },
      },
    },
  });
  takeDeclarations(target, entries);
  write(target, bundleManifest(root, { folder, entries, externals: [...externals] }), readmeOf(join(ROOT, library)));
}

/** Declarations of the entries of all bundles and of their imports. A single run of the compiler, which takes most of the time. */
function makeDeclarations() {
  const settings = join(OUT, 'tsconfig.json');
  const compilerOptions = { declaration: true, emitDeclarationOnly: true, sourceMap: false, inlineSources: false };
  const files = BUNDLES.flatMap(({ entries }) => Object.values(entries)).map((path) => join(ROOT, `${path}.ts`));
  const folders = { rootDir: ROOT, outDir: DECLARATIONS, typeRoots: [join(ROOT, 'node_modules/@types')] };
  writeFileSync(
    settings,
    JSON.stringify({ extends: join(ROOT, 'tsconfig.json'), compilerOptions: { ...compilerOptions, ...folders }, include: [], files }),
  );
  run(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', settings]);
  rmSync(settings);
}

/** Copies the declarations of these entries, and of what they name, to types/ in the folders of this project. */
function takeDeclarations(target, entries) {
  const taken = new Set(Object.values(entries).map((path) => `${path}.d.ts`));
  for (const file of taken) {
    const text = readFileSync(join(DECLARATIONS, file), 'utf8');
    for (const [, name] of text.matchAll(NAMED)) taken.add(name === '#contracts' ? CONTRACTS : declarationOf(join(file, '..', name)));
    mkdirSync(join(target, 'types', file, '..'), { recursive: true });
    writeFileSync(join(target, 'types', file), text);
  }
}

const declarationOf = (path) => path.replace(/\.js$/, '.d.ts');

function makeProgram() {
  const target = join(OUT, 'cli');
  cpSync(realpathSync(join(ROOT, 'dist/program')), target, { recursive: true, filter: (path) => !path.endsWith('.map') });
  const shipped = JSON.parse(readFileSync(join(target, 'package.json'), 'utf8'));
  write(target, programManifest(root, shipped), readmeOf(join(ROOT, 'apps/cli')));
}

function write(target, manifest, readme) {
  writeFileSync(join(target, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
  writeFileSync(join(target, 'README.md'), readme);
  cpSync(join(ROOT, 'LICENSE'), join(target, 'LICENSE'));
}

function pack(folder) {
  const [{ filename }] = JSON.parse(run('npm', ['pack', '--json', '--pack-destination', OUT, '--loglevel', 'error'], join(OUT, folder)));
  console.log(join('dist/packages', filename.replace('@', '').replace('/', '-')));
}

/**
 * CycloneDX, from package-lock.json. `--omit dev` of npm leaves out packages that programs need, too, so those that only tests need
 * are taken out here. The root has the name of its package.
 */
function makeBillOfMaterials() {
  const options = ['--package-lock-only', '--sbom-format', 'cyclonedx', '--sbom-type', 'application'];
  const bill = JSON.parse(run('npm', ['sbom', ...options, '--loglevel', 'error']));
  const purl = `pkg:npm/${encodeURIComponent('@')}${PROGRAM.slice(1)}@${root.version}`;
  Object.assign(bill.metadata.component, { name: PROGRAM, purl });
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
  const shipped = new Set(
    Object.entries(packages).flatMap(([path, { dev, name, version }]) => (dev ? [] : [`${name ?? nameAt(path)}@${version}`])),
  );
  const components = bill.components.filter(({ name, version }) => shipped.has(`${name}@${version}`));
  const refs = new Set([bill.metadata.component['bom-ref'], ...components.map((it) => it['bom-ref'])]);
  const dependencies = bill.dependencies
    .filter(({ ref }) => refs.has(ref))
    .map(({ dependsOn = [], ...it }) => ({ ...it, dependsOn: dependsOn.filter((ref) => refs.has(ref)) }));
  writeFileSync(join(OUT, 'sbom.cdx.json'), `${JSON.stringify({ ...bill, components, dependencies }, undefined, 2)}\n`);
}

/** `node_modules/a/node_modules/@b/c` → `@b/c`. */
function nameAt(path) {
  return path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
}

const notes = releaseNotes(readFileSync(join(ROOT, '.github/CHANGELOG.md'), 'utf8'), root.version);
run(process.execPath, [join(ROOT, 'apps/standalone/build-if-needed.mjs')]);
rmSync(OUT, { recursive: true, force: true });
mkdirSync(OUT);
makeDeclarations();
for (const bundle of BUNDLES) await makeBundle(bundle);
rmSync(DECLARATIONS, { recursive: true });
makeProgram();
for (const folder of ['client', 'tool-sdk', 'cli']) pack(folder);
makeBillOfMaterials();
writeFileSync(join(OUT, 'CHANGELOG.md'), notes);
