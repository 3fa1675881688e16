import { totalmem } from 'node:os';
import type { ResourceLimits } from '../process/resource-limits.js';

const GIBIBYTE = 1_073_741_824;

/** Room for builds and test runs of usual projects; half of the memory that this process may have is left to the others. */
export const DEFAULT_LIMITS: ResourceLimits = {
  cpuSeconds: 600,
  fileBytes: 2 * GIBIBYTE,
  openFiles: 4_096,
  memoryBytes: Math.min(4 * GIBIBYTE, Math.floor(memoryOfProcess() / 2)),
  processes: 256,
};

/** Limits of search programs of file tools, which write no files, and whose memory does not depend on the workspace. */
export const SEARCH_LIMITS: ResourceLimits = {
  cpuSeconds: 20,
  fileBytes: 0,
  openFiles: 1_024,
  memoryBytes: GIBIBYTE / 2,
  processes: 64,
  dataBytes: GIBIBYTE / 2,
};

/** Memory of the container, or of the machine without one. */
function memoryOfProcess(): number {
  const constrained = process.constrainedMemory();
  return constrained > 0 && constrained < totalmem() ? constrained : totalmem();
}
