/** The members of `T` that may be undefined become optional, without undefined as a value. */
export type WhenDefined<T> = {
  [K in keyof T as undefined extends T[K] ? never : K]: T[K]
} & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>
}

/**
 * A copy of an object without the members that are undefined, to be spread into a literal:
 *
 *     { name, ...defined({ port, remedy: isLast ? undefined : TRY_AGAIN }) }
 */
export function defined<T extends object>(members: T): WhenDefined<T> {
  const present: { [key: string]: unknown } = {}
  for (const key of Object.keys(members)) {
    const value = members[key as keyof T]
    if (value !== undefined) present[key] = value
  }
  return present as WhenDefined<T>
}
