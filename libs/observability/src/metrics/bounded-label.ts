/** Label value in place of values beyond the limit. */
export const OTHER = 'other';

/**
 * Bounds the values of a label, each of which is a time series for ever: known values pass, others become `other`. Without
 * `isKnown` the first `limit` different values pass.
 */
export function boundedLabel(options: { isKnown?: (value: string) => boolean; limit?: number } = {}): (value: string) => string {
  const { isKnown, limit = 200 } = options;
  const passed = new Set<string>();
  return (value) => {
    if (passed.has(value)) return value;
    if (passed.size >= limit || (isKnown && !isKnown(value))) return OTHER;
    passed.add(value);
    return value;
  };
}
