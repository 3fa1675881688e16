import { relative } from 'node:path';
import TestSequencer from '@jest/test-sequencer';
import { secondsOf } from './durations.mjs';
import { byChanges, recentChanges } from './by-changes.mjs';

/** Slowest files first, since one that starts last holds up the end of a run. In a time box the files that matter most first. */
export default class OrderSequencer extends TestSequencer {
  sort(tests) {
    const files = [...tests].map((test) => ({
      test,
      project: test.context.config.displayName.name,
      path: relative(test.context.config.rootDir, test.path),
    }));
    const isTimed = process.env.TEST_DEADLINE !== undefined;
    const sorted = isTimed ? byChanges(files, recentChanges()) : files.toSorted((a, b) => secondsOf(b) - secondsOf(a));
    return sorted.map(({ test }) => test);
  }
}
