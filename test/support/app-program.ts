import { resolve } from 'node:path';

export type App = 'gateway' | 'worker' | 'projector' | 'standalone' | 'cli';

/** The file by which Node starts an app, as it is shipped. See `apps/standalone/bundle-programs.mjs`. */
export function programOf(app: App): string {
  return resolve(app === 'cli' ? 'apps/cli/toolyard.mjs' : `dist/program/dist/apps/${app}/src/main.js`);
}
