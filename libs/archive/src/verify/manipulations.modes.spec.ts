import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { verifyArchive, type Fault } from '#archive';
import { manipulations } from '../testing/manipulations.js';
import { makeSignedArchive } from '../testing/signed-archive.js';

it('names each of 1,000 random manipulations by its file, or by the segment or checkpoint beside it', async () => {
  const { folder, store, published, keys, close } = await makeSignedArchive({ scale: 3 });
  const all = await store.list('');
  await fc.assert(
    fc.asyncProperty(manipulations(all), async (manipulation) => {
      await manipulation.apply(folder);
      const faults: Fault[] = [];
      await verifyArchive({ store, keys, published, report: (fault) => faults.push(fault) });
      await manipulation.undo(folder);
      const near = manipulation.names.flatMap((name) => [
        name,
        `${name.slice(0, name.lastIndexOf('/') + 1)},`,
        all[all.indexOf(name) - 1],
        all[all.indexOf(name) + 1],
        all[all.indexOf(name) + 2],
      ]);
      const named = faults.some(({ file, fault }) => near.some((name) => name !== undefined && (file === name || fault.includes(name))));
      if (!named) throw new Error(`Not named: ${manipulation.what}; found ${JSON.stringify(faults)}`);
    }),
    { numRuns: 1_000 },
  );
  await close();
  expect.assertions(0);
});
