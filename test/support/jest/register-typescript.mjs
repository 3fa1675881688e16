import { register } from 'node:module';

register('./typescript.hooks.mjs', import.meta.url);
// Errors name the lines of the TypeScript.
process.setSourceMapsEnabled(true);
