/** Keys of a catalog in its order, in the type for `z.enum`. */
export function keysOf<T extends object>(catalog: T): [keyof T & string, ...(keyof T & string)[]] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a catalog is written out: its type has all its keys, and it has one at least
  return Object.keys(catalog) as [keyof T & string, ...(keyof T & string)[]];
}
