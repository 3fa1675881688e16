// Bundles the programs that tests start as processes of their own: 2,500 files take Node four times as long to import as a few
// do, and the tests start these programs some hundred times. The project `deploy` starts the same programs as they are shipped.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const DIST = join(ROOT, 'dist');
const OUT = join(DIST, 'bundles');
const SERVERS = ['gateway', 'worker', 'projector', 'standalone'];

/** Found by their file names when a process starts, not by imports: tools, and threads that are ES modules. */
const NAMED = [/^libs\/tools\/src\/[^/]+\/[^/]+\.tool\.js$/, /^libs\/.*\.thread\.js$/];
const THREAD = /new URL\('(\.\/[^']+\.thread\.js)', import\.meta\.url\)/g;

/** Writes dist/bundles/<app>.mjs, unless they are of the build that is in dist/. */
export async function bundleApps() {
  const stamp = join(OUT, '.build-stamp');
  const build = readFileSync(join(DIST, '.build-stamp'), 'utf8') + readFileSync(fileURLToPath(import.meta.url), 'utf8');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === build) return;
  const named = readdirSync(DIST, { recursive: true }).filter((file) => NAMED.some((name) => name.test(file)));
  await bundle([...SERVERS.map(mainOf), ...named]);
  for (const app of SERVERS) writeFileSync(join(OUT, `${app}.mjs`), starterOf(mainOf(app)));
  writeFileSync(stamp, build);
}

async function bundle(files) {
  const { build } = await import('vite');
  const input = Object.fromEntries(files.map((file) => [file.replace(/\.js$/, ''), join(DIST, file)]));
  await build({
    root: ROOT,
    configFile: false,
    logLevel: 'error',
    plugins: [keepPlaces],
    ssr: { noExternal: true, target: 'node' },
    build: {
      ssr: true,
      target: 'node20',
      outDir: OUT,
      copyPublicDir: false,
      minify: false,
      rolldownOptions: { input, treeshake: false, output: { entryFileNames: '[name].js' } },
    },
  });
}

function mainOf(app) {
  return `apps/${app}/src/main.js`;
}

/** The program starts when it is the main file of the process. In a bundle, decorators may run before it has imported their polyfill. */
function starterOf(main) {
  return `import 'reflect-metadata';\nprocess.argv[1] = ${JSON.stringify(join(DIST, main))};\nawait import(${JSON.stringify(`./${main}`)});\n`;
}

/** Scripts and files beside a module are found where the module was; tools and threads in the bundle. */
const keepPlaces = {
  name: 'keep-places',
  transform(code, id) {
    if (!id.startsWith(`${DIST}/`)) return null;
    const bundled = pathToFileURL(join(OUT, relative(DIST, dirname(id)))).href;
    const threads = code.replaceAll(THREAD, (_url, name) => `new URL(${JSON.stringify(name)}, ${JSON.stringify(`${bundled}/`)})`);
    return threads.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href)).replaceAll('import(`./', `import(\`${bundled}/`);
  },
};
