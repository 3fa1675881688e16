import { expect, it } from '@jest/globals';
import { FairTurns } from '../../platform/fair-turns.service.js';
import { AdmissionPipeline } from './pipeline.js';
import type { AdmissionStage, Submission } from './submission.js';

const STAGES = ['memory', 'lineage', 'evaluate', 'identify', 'hooks', 'limits', 'redact', 'compose', 'watch', 'accept'];

/** Stages of submissions with these texts by tenant, with the turns of the event loop beside them. */
async function order(submissions: readonly (readonly [tenant: string, text: string])[]): Promise<string[]> {
  const happened: string[] = [];
  const stage = (name: string): AdmissionStage => ({
    name,
    run: ({ principal }) => void happened.push(`${principal.tenantId} ${name}`),
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the pipeline only runs its stages
  const parts = [...STAGES.map(stage), new FairTurns()] as unknown as ConstructorParameters<typeof AdmissionPipeline>;
  const pipeline = new AdmissionPipeline(...parts);
  const run = ([tenantId, text]: readonly [string, string]) =>
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all that the pipeline reads
    pipeline.run({
      isDryRun: false,
      principal: { tenantId },
      body: { arguments: { text } },
      measure: () => {},
      wroteNothing: () => true,
    } as unknown as Submission);
  let isOver = false;
  const turns = () => {
    happened.push('turn');
    if (!isOver) setImmediate(turns);
  };
  const all = Promise.all(submissions.map(run)).then(() => (isOver = true));
  setImmediate(turns);
  await all;
  return happened;
}

const LARGE = 'x'.repeat(100_000);

it('yields to other requests between the stages of each large submission', async () => {
  const happened = (
    await order([
      ['a', LARGE],
      ['a', LARGE],
      ['a', LARGE],
    ])
  ).join();
  expect(happened.split('turn').map((some) => some.split(',').filter((name) => name !== '').length)).not.toContain(2);
  expect(happened).toContain('a accept');
});

it('alternates the stages of large submissions between tenants', async () => {
  const happened = (
    await order([
      ['a', LARGE],
      ['a', LARGE],
      ['a', LARGE],
      ['b', LARGE],
    ])
  ).filter((name) => name !== 'turn');
  expect(happened.slice(0, 4)).toEqual(['a memory', 'b memory', 'a memory', 'b lineage']);
  expect(happened.indexOf('b accept')).toBeLessThan(happened.indexOf('a accept'));
});

it('runs the stages of a small submission without a turn: it is not overtaken by later ones', async () => {
  const happened = await order([
    ['a', LARGE],
    ['b', 'x'],
    ['c', 'x'],
  ]);
  const of = (tenant: string) => STAGES.map((name) => `${tenant} ${name}`);
  expect(happened.slice(0, 2 * STAGES.length)).toEqual([...of('b'), ...of('c')]);
});
