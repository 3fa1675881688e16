/** Variables with which the loader, libc or a shell runs code: what starts the sandbox has them too. */
const OF_LOADERS = /^(?:LD_|GLIBC_|GCONV_PATH$|LOCPATH$|NLSPATH$|MALLOC_|BASH_|ENV$|SHELLOPTS$|PS4$)/;

/** The first variable that would run code outside of the sandbox; undefined without one. */
export function loaderVariable(env: Readonly<Record<string, unknown>> = {}): string | undefined {
  return Object.keys(env).find((name) => OF_LOADERS.test(name));
}
