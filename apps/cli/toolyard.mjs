#!/usr/bin/env node
// The bin of package.json. It stands outside of dist/, so that npm can link it before anything is built.
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const built = new URL('../../dist/cli/main.js', import.meta.url);
if (!existsSync(fileURLToPath(built))) {
  console.error('toolyard is not built yet. Run `npm ci && npm run build` in its folder first.');
  process.exit(1);
}
const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
const { main } = await import(built.href);
// In a checkout, the build has a folder of its own, which the next one leaves alone.
const standalone = ['dist/program/dist', 'dist'].map((dist) =>
  fileURLToPath(new URL(`../../${dist}/apps/standalone/src/main.js`, import.meta.url)),
);
await main(version, standalone.find((file) => existsSync(file)) ?? standalone[1]);
