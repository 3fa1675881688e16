/** The metrics of this process (#metrics), made by the module. */
export const METRICS = Symbol('METRICS');
