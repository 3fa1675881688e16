export { makeFolder } from './make-folder.js';
export { outliveReaders } from './outlive-readers.js';
export { reachRedis } from './reach-redis.js';
export { runUntilSignal } from './run-until-signal.js';
export { shutdownSteps } from './shutdown-steps.js';
export { silentConnection } from './silent-connection.js';
export { StartFailure } from './start-failure.js';
export { VERSION } from './version.js';
