// Node imports the test files, whose TypeScript SWC compiles (test/support/jest). SWC checks no types: `npm run typecheck` does.
// `npm test` runs the projects unit, redis and api; `npm run test:all` the others but soak, which `npm run soak` runs. `npm test -- <path>` runs any file of any project.
import { fileURLToPath } from 'node:url';

const rootDir = fileURLToPath(new URL('..', import.meta.url));

const base = {
  rootDir,
  testEnvironment: 'node',
  runtime: '<rootDir>/test/support/jest/shared-modules.runtime.cjs',
  modulePathIgnorePatterns: ['<rootDir>/dist/'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: {},
  testRunner: '<rootDir>/test/support/time-box/time-box.runner.mjs',
  testTimeout: 600_000,
};

/** Time limit of a test in the projects of `npm test`, hooks alike: a test that hangs is reported soon. A file that needs more sets it. */
const QUICK = { testTimeout: 60_000 };

/** Contracts in other set-ups than the default, and races that run for minutes. */
const MODES = ['\\.modes\\.spec\\.ts$', '\\.race\\.spec\\.ts$'];
/** Specs that start programs other than Redis: sandboxes, servers, commands. */
const PROCESS = '\\.process\\.spec\\.ts$';
const NOT_QUICK = ['/node_modules/', ...MODES, PROCESS];

/** Specs that need a Redis server; the others need nothing but Node. */
const ON_REDIS = [
  'libs/{attempts,event-log,history,limits,queue,redis,sealing}/**/*',
  'libs/sub-agents/src/agent-loop',
  'libs/platform/src/silent-connection',
  'libs/platform/src/wait-for-redis',
  'libs/sources/src/catalog/source-store',
  'libs/sources/src/oauth/granted-tokens',
  'apps/{gateway,standalone,worker}/**/*',
  'test/{contracts,replay}/**/*',
];
const NOT_ON_REDIS = [
  '/libs/(attempts|event-log|history|limits|queue|redis|sealing)/',
  '/libs/(sub-agents/src/agent-loop|platform/src/(silent-connection|wait-for-redis)|sources/src/catalog/source-store|sources/src/oauth/granted-tokens)\\.',
  '/apps/(gateway|standalone|worker)/',
];

/** Files of the project `validated` in `npm run test:all`, all of test/api: most routes and many errors in little time. */
const VALIDATED = 'batches http-calls http-contract keys mcp';

const projects = {
  unit: {
    ...QUICK,
    testMatch: ['<rootDir>/{libs,apps}/**/*.spec.ts', '<rootDir>/test/*.spec.ts'],
    testPathIgnorePatterns: [...NOT_QUICK, ...NOT_ON_REDIS],
  },
  redis: { ...QUICK, testMatch: ON_REDIS.map((path) => `<rootDir>/${path}.spec.ts`), testPathIgnorePatterns: NOT_QUICK },
  api: { ...QUICK, testMatch: ['<rootDir>/test/api/*.spec.ts'], testPathIgnorePatterns: NOT_QUICK },
  process: {
    testMatch: ['<rootDir>/test/process/*.spec.ts', '<rootDir>/{libs,apps}/**/*.process.spec.ts'],
    testPathIgnorePatterns: ['/node_modules/', ...MODES],
  },
  faults: { testMatch: ['<rootDir>/test/faults/**/*.spec.ts', '<rootDir>/{libs,test}/**/*.{modes,race}.spec.ts'] },
  browser: { testMatch: ['<rootDir>/test/process/dashboard/**/*.spec.ts'] },
  deploy: { testMatch: ['<rootDir>/test/deploy/**/*.spec.ts'] },
  // Their answers go through a public validating proxy. VALIDATED names other files, as `npm run test:validated` does.
  validated: {
    testMatch: (process.env.VALIDATED ?? VALIDATED).split(' ').map((name) => `<rootDir>/test/{api,process}/${name}.spec.ts`),
    setupFilesAfterEnv: ['<rootDir>/test/support/validated/validate-answers.ts'],
    globalSetup: '<rootDir>/test/support/validated/global-setup.mjs',
    globalTeardown: '<rootDir>/test/support/validated/global-teardown.mjs',
  },
  // The hosts need a network of their own, which `npm run soak:hosts` gives them.
  soak: { testMatch: ['<rootDir>/test/soak/**/*.spec.ts'], testPathIgnorePatterns: process.env.HOSTS ? [] : ['/soak/hosts\\.'] },
};

export default {
  rootDir,
  globalSetup: '<rootDir>/test/support/global-setup.mjs',
  globalTeardown: '<rootDir>/test/support/global-teardown.mjs',
  testSequencer: '<rootDir>/test/support/time-box/order.sequencer.mjs',
  reporters: ['default', '<rootDir>/test/support/slowest-files.reporter.mjs'],
  // The heap of a worker grows with each test file, to 2.5 GB in `npm test`, and collecting garbage costs more and more.
  workerIdleMemoryLimit: '500MB',
  projects: Object.entries(projects).map(([displayName, project]) => ({ displayName, ...base, ...project })),
};
