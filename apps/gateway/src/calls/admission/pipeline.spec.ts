import { afterEach, expect, it, jest } from '@jest/globals';
import { AdmissionPipeline } from './pipeline.js';
import type { AdmissionStage, Submission } from './submission.js';

afterEach(() => void jest.restoreAllMocks());

/** Order of events for stages of this duration and the first turn of the event loop. */
async function order(stageMs: number, text = 'x'.repeat(100_000)): Promise<string[]> {
  const happened: string[] = [];
  let now = 0;
  jest.spyOn(performance, 'now').mockImplementation(() => now);
  const stage = (name: string): AdmissionStage => ({
    name,
    run: () => {
      now += stageMs;
      happened.push(name);
    },
  });
  const names = ['memory', 'lineage', 'evaluate', 'identify', 'hooks', 'limits', 'redact', 'compose', 'watch', 'accept'];
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the pipeline only runs its stages
  const pipeline = new AdmissionPipeline(...(names.map(stage) as unknown as ConstructorParameters<typeof AdmissionPipeline>));
  setImmediate(() => happened.push('another request'));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all that the pipeline reads
  await pipeline.run({
    isDryRun: false,
    body: { arguments: { text } },
    measure: () => {},
    wroteNothing: () => true,
  } as unknown as Submission);
  return happened;
}

it('lets other requests have their turn between stages of a large submission that take long', async () => {
  expect((await order(20)).slice(0, 3)).toEqual(['memory', 'another request', 'lineage']);
});

it('runs quick stages of a submission one after the other, without a turn of the event loop', async () => {
  expect(await order(1)).not.toContain('another request');
});

it('runs stages of a small submission without a turn, however long they take: it is not overtaken by later ones', async () => {
  expect(await order(20, 'x')).not.toContain('another request');
});
