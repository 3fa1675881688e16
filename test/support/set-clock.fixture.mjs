/**
 * Loaded into an app by `--import`: each SIGUSR2 sets its clock by the next of the CLOCK_STEPS_MS, as an operator or NTP does. The
 * monotonic clock goes on. It begins CLOCK_AHEAD_MS ahead.
 */
const steps = (process.env.CLOCK_STEPS_MS ?? '').split(',').map(Number);
const RealDate = Date;
let shift = Number(process.env.CLOCK_AHEAD_MS ?? 0);

globalThis.Date = class extends RealDate {
  constructor(...args) {
    if (args.length === 0) super(RealDate.now() + shift);
    else super(...args);
  }

  static now() {
    return RealDate.now() + shift;
  }
};
process.on('SIGUSR2', () => (shift += steps.shift() ?? 0));
