// Bundles gateway and worker for tests that start them as processes of their own: 2,500 files take Node four times as long to
// import as a few do, and the tests start these programs more than a hundred times. `npm run test:all` starts the same programs as they are shipped.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const DIST = join(ROOT, 'dist');
const OUT = join(DIST, 'bundles');
const APPS = ['gateway', 'worker'];

/** Found by their file names when a process starts, not by imports. */
const TOOLS = /^libs\/tools\/src\/[^/]+\/[^/]+\.tool\.js$/;

/** Writes dist/bundles/<app>.mjs, unless they are of the build that is in dist/. */
export async function bundleApps() {
  const stamp = join(OUT, '.build-stamp');
  const build = readFileSync(join(DIST, '.build-stamp'), 'utf8') + readFileSync(fileURLToPath(import.meta.url), 'utf8');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === build) return;
  const tools = readdirSync(DIST, { recursive: true }).filter((file) => TOOLS.test(file));
  const inputs = [...APPS.map(mainOf), ...tools].map((file) => [file.replace(/\.js$/, ''), join(DIST, file)]);
  const { build: bundle } = await import('vite');
  await bundle({
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
      rolldownOptions: { input: Object.fromEntries(inputs), treeshake: false, output: { entryFileNames: '[name].js' } },
    },
  });
  for (const app of APPS) writeFileSync(join(OUT, `${app}.mjs`), starterOf(mainOf(app)));
  writeFileSync(stamp, build);
}

function mainOf(app) {
  return `apps/${app}/src/main.js`;
}

/** The program starts when it is the main file of the process. */
function starterOf(main) {
  return `process.argv[1] = ${JSON.stringify(join(DIST, main))};\nawait import(${JSON.stringify(`./${main}`)});\n`;
}

/** Scripts, threads and files beside a module are found where the module was; tools in the bundle. */
const keepPlaces = {
  name: 'keep-places',
  transform(code, id) {
    if (!id.startsWith(`${DIST}/`)) return null;
    const bundled = pathToFileURL(join(OUT, relative(DIST, dirname(id)))).href;
    return code.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href)).replaceAll('import(`./', `import(\`${bundled}/`);
  },
};
