import { relative } from 'node:path';
import { recordDurations } from './time-box/durations.mjs';

const SHOWN = 10;

/** Prints the files that took longest. With TEST_DURATIONS=record, stores the time of each file in test/durations.json. */
export default class SlowestFilesReporter {
  ran = [];

  onTestResult({ context: { config }, path }, { perfStats: { start, end }, skipped, testExecError }) {
    if (skipped || testExecError !== undefined) return;
    this.ran.push({ project: config.displayName.name, path: relative(config.rootDir, path), seconds: (end - start) / 1000 });
  }

  onRunComplete() {
    if (process.env.TEST_DURATIONS === 'record') recordDurations(this.ran);
    if (this.ran.length <= SHOWN) return;
    console.log('\nSlowest files:');
    for (const { path, seconds } of this.ran.toSorted((a, b) => b.seconds - a.seconds).slice(0, SHOWN))
      console.log(`${seconds.toFixed(1).padStart(8)} s  ${path}`);
  }
}
