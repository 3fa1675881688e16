const childProcess = require('node:child_process');
const { syncBuiltinESMExports } = require('node:module');
const { pathToFileURL } = require('node:url');
const { ModernFakeTimers } = require('@jest/fake-timers');
const { ModuleMocker } = require('jest-mock');
const { default: Runtime } = require('jest-runtime');

/** `expect.any(String)` compares with the `String` that Jest sees. */
const CONSTRUCTORS = [
  'Array',
  'BigInt',
  'Boolean',
  'Date',
  'Error',
  'Function',
  'Map',
  'Number',
  'Object',
  'Promise',
  'RegExp',
  'Set',
  'String',
  'Symbol',
];

const STARTS = ['exec', 'execFile', 'execFileSync', 'execSync', 'fork', 'spawn', 'spawnSync'];
const starts = Object.fromEntries(STARTS.map((name) => [name, childProcess[name]]));

/** Tests of the project `unit` need nothing but Node. */
function forbidPrograms() {
  for (const name of STARTS)
    childProcess[name] = (program) => {
      throw new Error(`a unit test started ${program}: expected its file to be called *.process.spec.ts`);
    };
  syncBuiltinESMExports();
}

function allowPrograms() {
  Object.assign(childProcess, starts);
  syncBuiltinESMExports();
}

let imports = 0;

/**
 * Node imports the test files itself, so that all files of one worker share what they import: with Jest's own module system each
 * file loads the gateway's 2,500 modules again, which took two thirds of the CPU of `npm test`. Jest's part (titles, hooks,
 * deadlines, reports) is as ever. Modules cannot be mocked, and what they keep outlives a test file; `process.env` does not.
 */
module.exports = class SharedModulesRuntime extends Runtime {
  constructor(config, environment, ...more) {
    super(config, environment, ...more);
    for (const name of CONSTRUCTORS) environment.global[name] = globalThis[name];
    this.env = { ...process.env };
    if (config.displayName.name === 'unit') forbidPrograms();
    this.timers = new ModernFakeTimers({ config, global: globalThis });
    this.mocker = new ModuleMocker(globalThis);
  }

  setGlobalsForRuntime(globals) {
    super.setGlobalsForRuntime(globals);
    globalThis[Symbol.for('toolyard.jest-globals')] = { ...globals, jest: this.jestObject() };
  }

  /** Called by Jest for test files and set-up files, and for its own files. */
  unstable_shouldLoadAsEsm(path) {
    return !path.includes('/node_modules/');
  }

  async unstable_importModule(path) {
    Error.prepareStackTrace = undefined; // Jest's knows only what Jest compiled; Node's names the lines of the TypeScript.
    imports += 1;
    await import(`${pathToFileURL(path).href}?import=${imports}`);
  }

  teardown() {
    allowPrograms();
    this.timers.dispose();
    this.mocker.restoreAllMocks();
    for (const name of Object.keys(process.env)) if (!(name in this.env)) delete process.env[name];
    Object.assign(process.env, this.env);
    super.teardown();
  }

  jestObject() {
    const { timers, mocker } = this;
    return {
      fn: mocker.fn.bind(mocker),
      spyOn: mocker.spyOn.bind(mocker),
      clearAllMocks: () => mocker.clearAllMocks(),
      restoreAllMocks: () => mocker.restoreAllMocks(),
      useFakeTimers: (config) => timers.useFakeTimers(config),
      useRealTimers: () => timers.useRealTimers(),
      setSystemTime: (now) => timers.setSystemTime(now),
      advanceTimersByTime: (ms) => timers.advanceTimersByTime(ms),
      advanceTimersByTimeAsync: (ms) => timers.advanceTimersByTimeAsync(ms),
    };
  }
};
