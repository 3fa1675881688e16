/** The range of an axis of slots that begin at `times`: up to the end of the last one, which is still growing. */
export function rangeOfSlots(times: ArrayLike<number>): [from: number, to: number] {
  const from = times[0] ?? 0;
  const last = times[times.length - 1] ?? 0;
  const length = times.length < 2 ? 1 : (last - from) / (times.length - 1);
  return [from, last + length];
}
