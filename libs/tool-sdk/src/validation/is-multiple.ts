/** True if the decimal text of `value` is a whole multiple of that of `divisor`: doubles divide 19.99 by 0.01 with a rest. */
export function isMultiple(value: number, divisor: number): boolean {
  if (Number.isInteger(value / divisor)) return true;
  const places = Math.max(placesOf(value), placesOf(divisor));
  return scaled(value, places) % scaled(divisor, places) === 0n;
}

function placesOf(number: number): number {
  const [, fraction = '', exponent = '0'] = /^-?\d+(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(number)) ?? [];
  return Math.max(0, fraction.length - Number(exponent));
}

/** The number times ten to the power of `places`, which leave no fraction. */
function scaled(number: number, places: number): bigint {
  const [, digits = '0', fraction = '', exponent = '0'] = /^(-?\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(number)) ?? [];
  return BigInt(digits + fraction) * 10n ** BigInt(places - fraction.length + Number(exponent));
}
