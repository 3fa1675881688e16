/** What a value becomes that has no place among the label values. */
export const OTHER = 'other';

/**
 * Keeps a label from growing without end, since each new value is a new time series for ever: a value passes when it is
 * known, else it becomes `other`. Without a rule for what is known the first `limit` different values pass.
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
