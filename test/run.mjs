// `npm test`: the projects unit, redis and api. `npm run smoke`: the first eight files to look at, of api. `npm run test:all`: the others.
// `npm run soak`: the long runs.
// `npm run test:all -- --seconds=1500`: only the files that fit into that time, those that recent commits changed first.
// `npm run test:validated`: all files of test/api and test/process with a validating proxy, of which test:all has a choice.
// `npm test -- libs/policy --watch`: again at each change of a source.
// With a path or a title, whatever matches in any project.
// Further arguments go to Jest: `npm test -- test/api/first-call.spec.ts -t 'a title'`.
import { spawnSync } from 'node:child_process';
import { watch } from 'node:fs';
import { availableParallelism } from 'node:os';

const QUICK = ['unit', 'redis', 'api'];
const THOROUGH = ['process', 'faults', 'browser', 'deploy', 'validated'];

/** A call, approval, batch, stream, MCP, command line, policy, question: whether the product works at all. */
const SMOKE = ['first-call', 'approval-edit', 'batches-on-workers', 'stream-sse', 'mcp-sessions', 'error-results', 'policy-axes', 'inputs'];

const all = process.argv.includes('--all');
const smoke = process.argv.includes('--smoke');
const isWatching = process.argv.includes('--watch');
const soak = process.argv.includes('--soak');
const validated = process.argv.includes('--validated');
if (validated) process.env.VALIDATED ??= '*';
const seconds = process.argv.find((word) => word.startsWith('--seconds='))?.split('=')[1];
const args = process.argv.slice(2).filter((word) => !/^--(all|smoke|soak|validated|watch|seconds=.*)$/.test(word));
if (smoke) args.push(...SMOKE.map((name) => `test/api/${name}.spec.ts`));
const isChoice = args.some((word) => !word.startsWith('-') || word.startsWith('-t'));
const group = soak ? ['soak'] : validated ? ['validated'] : all ? THOROUGH : QUICK;
const names = isChoice && !validated ? ['--ignoreProjects', 'validated'] : ['--selectProjects', ...group];
// Files at a time. Most tests wait for other processes: two more than cores keep the cores busy. Thorough tests start more of them.
const files = availableParallelism() + (group === THOROUGH ? 1 : 2);
const workers = args.some((word) => /^(-w|--maxWorkers|-i|--runInBand)/.test(word)) ? [] : [`--maxWorkers=${files}`];

// The names of projects come last: Jest takes each word that follows them for one more.
const jest = [
  '--experimental-vm-modules', // for the test that compiles generated clients
  '--disable-warning=ExperimentalWarning',
  '--import',
  new URL('./support/jest/register-typescript.mjs', import.meta.url).href,
  'node_modules/jest/bin/jest.js',
  '--config',
  '.config/jest.mjs',
];
const env = { ...process.env, ...(seconds && { TEST_DEADLINE: Date.now() + seconds * 1000 }) };
const run = () => spawnSync(process.execPath, [...jest, ...args, ...names, ...workers], { stdio: 'inherit', env }).status ?? 1;
const status = run();
if (!isWatching) process.exit(status);

// In a new process each time: the tests of one process share the modules that they import.
let next;
for (const folder of ['apps', 'libs', 'test'])
  watch(folder, { recursive: true }, (_event, name) => {
    if (!/\.(ts|tsx|mjs|cjs|lua)$/.test(name ?? '')) return;
    clearTimeout(next);
    next = setTimeout(run, 200);
  });
