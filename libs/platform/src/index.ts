export { ensureDirectory } from './ensure-directory.js';
export { ignoreBrokenPipe } from './ignore-broken-pipe.js';
export { waitForRedis } from './wait-for-redis.js';
export { runService } from './run-service.js';
export { shutdownSteps } from './shutdown-steps.js';
export { silentConnection } from './silent-connection.js';
export { StartupError } from './startup-error.js';
export { VERSION } from './version.js';
