const SHOWN = 10;

/** Prints the files that took longest, so that the slowest ones are known and mended first. */
export default class SlowestFilesReporter {
  onRunComplete(_contexts, { testResults }) {
    if (testResults.length <= SHOWN) return;
    const seconds = ({ perfStats }) => (perfStats.end - perfStats.start) / 1000;
    const slowest = [...testResults].sort((a, b) => seconds(b) - seconds(a)).slice(0, SHOWN);
    console.log('\nSlowest files:');
    for (const result of slowest)
      console.log(`${seconds(result).toFixed(1).padStart(8)} s  ${result.testFilePath.replace(`${process.cwd()}/`, '')}`);
  }
}
