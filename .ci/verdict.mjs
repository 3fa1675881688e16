// The last lines of .ci/run: `node .ci/verdict.mjs <folder of Jest's reports> <failed part>...`
// Runs each test file that failed once more, alone. A file that passes then is listed as unsteady and counts as passed.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

/** Time for all second looks, so that a run with very many failures ends. Files beyond it count as failed. FULL=1 has no limit. */
const LOOK_AGAIN_MS = process.env.FULL === '1' ? Infinity : 10 * 60_000;
/** A test file that hangs is ended and counts as failed. */
const FILE_MS = 15 * 60_000;

const PARTS = ['tests', 'thorough tests'];

const [folder, ...failedParts] = process.argv.slice(2);
const reports = PARTS.map((part) => readReport(join(folder, `${part}.json`)));
const files = reports.flatMap((report, index) => (report?.testResults ?? []).map((result) => ({ result, isThorough: index === 1 })));
const startedAt = Date.now();

const unsteady = [];
const failed = failedParts.filter((part) => !PARTS.includes(part));
for (const [index, part] of PARTS.entries()) {
  const results = reports[index]?.testResults ?? [];
  if (countOf(results, 'passed') === 0) failed.push(`${part}: no test passed`);
  else if (failedParts.includes(part) && !results.some(({ status }) => status === 'failed'))
    failed.push(`${part}: Jest ended with an error`);
}

let passed = 0;
for (const { result, isThorough } of files) {
  if (result.status !== 'failed') {
    passed += countOf([result], 'passed');
    continue;
  }
  const second = Date.now() - startedAt < LOOK_AGAIN_MS ? lookAgain(result, isThorough) : undefined;
  passed += countOf([second ?? result], 'passed');
  if (second !== undefined && second.status !== 'failed') unsteady.push(...failuresOf(result));
  else failed.push(...failuresOf(second ?? result));
}

const notRun = files.filter(({ result }) => result.status === 'skipped').map(({ result }) => pathOf(result));
for (const path of notRun.toSorted()) console.log(`not run: ${path}`);
for (const line of unsteady) console.log(`unsteady ${line}`);
for (const line of failed) console.log(`failed ${line}`);
console.log(`${passed} passed, ${failed.length} failed`);
process.exit(failed.length === 0 ? 0 : 1);

/** Result of the file when nothing else runs; undefined when Jest ended without one. */
function lookAgain(result, isThorough) {
  const path = pathOf(result);
  console.log(`== second look at ${path}`);
  const report = join(mkdtempSync(join(folder, 'second-')), 'report.json');
  // Of test/api, the thorough tests run only what the project `validated` has.
  const project = isThorough && path.startsWith('test/api/') ? ['--validated'] : [];
  const args = ['test/run.mjs', ...project, path, '--ci', '--runInBand', '--json', `--outputFile=${report}`];
  // The report is in the file. Jest prints it to standard output as well where no file is named.
  spawnSync(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'], timeout: FILE_MS });
  return readReport(report)?.testResults[0];
}

/** `<file> › <title>: <first line of the failure>` for each test that failed, or for the file when it could not be loaded or closed. */
function failuresOf(result) {
  const path = pathOf(result);
  const tests = result.assertionResults.filter(({ status }) => status === 'failed');
  if (tests.length === 0) return [`${path}: ${firstLine(result.message)}`];
  return tests.map(({ fullName, failureMessages }) => `${path} › ${fullName}: ${firstLine(failureMessages[0])}`);
}

function firstLine(text = '') {
  const lines = stripVTControlCharacters(text).split('\n');
  // Jest's text about a whole file begins with a bullet and a title.
  return (lines.find((line) => line.trim() !== '' && !line.includes('●')) ?? 'no reason was reported').trim().slice(0, 300);
}

function countOf(results, status) {
  return results.flatMap(({ assertionResults }) => assertionResults).filter((test) => test.status === status).length;
}

function pathOf({ name }) {
  return relative(process.cwd(), name);
}

function readReport(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined; // Jest did not get as far as a report.
  }
}
