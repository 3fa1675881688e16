// `npm run test:installation`: the installation that all files of test/api share, left running until Ctrl-C, so that one file
// of them starts at once. It runs what was built when it started: start it again after a change of the product.
import './support/jest/register-typescript.mjs';
import globalSetup from './support/global-setup.mjs';
import globalTeardown from './support/global-teardown.mjs';

delete process.env.TEST_INSTALLATION_URL;
await globalSetup({});
const { useTenant } = await import('./support/installation/use-tenant.ts');
await (await useTenant('first')).close(); // The first tenant starts the installation.
console.log('The installation runs. In another terminal:');
for (const name of ['TEST_INSTALLATION_URL', 'TEST_REDIS_URL']) console.log(`export ${name}=${process.env[name]}`);
console.log('npm test -- test/api/<file>');

const keepAlive = setInterval(() => {}, 60_000);
process.once('SIGINT', async () => {
  clearInterval(keepAlive);
  await globalTeardown();
});
