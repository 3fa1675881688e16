/** A path with its parameters encoded, so that an id from anywhere cannot name another route. */
export function pathOf(fixed: TemplateStringsArray, ...params: readonly string[]): string {
  return fixed.reduce((path, part, index) => `${path}${encode(params[index - 1] ?? '')}${part}`);
}

/** Dots alone would be taken as a step up. */
function encode(param: string): string {
  return /^\.{1,2}$/.test(param) ? param.replaceAll('.', '%2E') : encodeURIComponent(param);
}
