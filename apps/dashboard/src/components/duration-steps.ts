const [SECOND, MINUTE, HOUR, DAY] = [1000, 60_000, 3_600_000, 86_400_000] as const;

/** Distances of the marks of an axis for durations, in milliseconds: whole seconds, minutes, hours and days. */
export const DURATION_STEPS: readonly number[] = [
  1,
  2,
  5,
  10,
  20,
  50,
  100,
  200,
  500,
  ...[1, 2, 5, 10, 15, 30].flatMap((each) => each * SECOND),
  ...[1, 2, 5, 10, 15, 30].flatMap((each) => each * MINUTE),
  ...[1, 2, 3, 6, 12].flatMap((each) => each * HOUR),
  ...[1, 2, 5, 10, 30].flatMap((each) => each * DAY),
];
