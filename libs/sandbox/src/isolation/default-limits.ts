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

/** Of the programs by which file tools search. They write no files, and what they need of memory does not depend on the workspace. */
export const SEARCH_LIMITS: ResourceLimits = {
  cpuSeconds: 20,
  fileBytes: 0,
  openFiles: 1_024,
  memoryBytes: GIBIBYTE / 2,
  processes: 64,
  dataBytes: GIBIBYTE / 2,
};

/** What the container gives, where there is one; otherwise what the machine has. */
function memoryOfProcess(): number {
  const constrained = process.constrainedMemory();
  return constrained > 0 && constrained < totalmem() ? constrained : totalmem();
}
