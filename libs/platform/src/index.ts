export { ensureDirectory as makeFolder } from './ensure-directory.js';
export { ignoreBrokenPipe as outliveReaders } from './ignore-broken-pipe.js';
export { waitForRedis as reachRedis } from './wait-for-redis.js';
export { runService as runUntilSignal } from './run-service.js';
export { shutdownSteps } from './shutdown-steps.js';
export { silentConnection } from './silent-connection.js';
export { StartupError as StartFailure } from './startup-error.js';
export { VERSION } from './version.js';
