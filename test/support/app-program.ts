import { resolve } from 'node:path';

export type App = 'gateway' | 'worker' | 'projector' | 'standalone' | 'cli';

/** The file by which Node starts an app: of its bundle, or as it is shipped (project `deploy`). See `bundle-apps.mjs`. */
export function programOf(app: App): string {
  if (app === 'cli') return resolve('apps/cli/toolyard.mjs');
  const bundled = process.env['TEST_SHIPPED'] === undefined && process.env['TEST_BUNDLES'] !== undefined;
  return resolve(bundled ? `dist/bundles/${app}.mjs` : `dist/apps/${app}/src/main.js`);
}
