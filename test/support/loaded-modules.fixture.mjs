// `node --import <this>`: writes the URLs of all modules that the program loads into the file LOADED_MODULES, one a line.
import { appendFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';
import { register } from 'node:module';

// The hooks run in a thread of their own, which loads this file again.
if (isMainThread) register(import.meta.url);

export async function load(url, context, next) {
  appendFileSync(process.env.LOADED_MODULES, `${url}\n`);
  return next(url, context);
}
