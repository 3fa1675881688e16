import { relative } from 'node:path';
import { createEmptyTestResult } from '@jest/test-result';
import jestCircus from 'jest-circus/runner';
import { secondsOf } from './durations.mjs';

/** Jest requires a file to have a test. */
const NOT_RUN = { title: 'not run', fullName: 'not run', status: 'pending', ancestorTitles: [], failureMessages: [], failureDetails: [] };

/**
 * Runs a test file as Jest does if it fits into the time until TEST_DEADLINE (epoch, ms). Otherwise reports it as skipped.
 * The time limit of a test is that of its project, which Jest itself takes from the root of the configuration only.
 */
export default async function timeBox(globalConfig, config, environment, runtime, testPath, send) {
  const file = { project: config.displayName.name, path: relative(config.rootDir, testPath) };
  const deadline = Number(process.env.TEST_DEADLINE ?? Infinity);
  process.env.TEST_LIMIT_MS = String(config.testTimeout);
  if (Date.now() + secondsOf(file) * 1000 <= deadline)
    return jestCircus.default({ ...globalConfig, testTimeout: config.testTimeout }, config, environment, runtime, testPath, send);
  return { ...createEmptyTestResult(), skipped: true, numPendingTests: 1, testResults: [NOT_RUN], testFilePath: testPath };
}
