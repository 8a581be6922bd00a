/** How the text of a setting, as it stands in a configuration file, becomes a value. */
export interface Setting<T> {
  /** @throws string what is expected instead */
  read(text: string): T
}

export const anyText: Setting<string> = { read: (given) => given }

export const yesOrNo: Setting<boolean> = {
  read: (given) => {
    if (/^(1|true|yes|on|t|y)$/i.test(given)) return true
    if (/^(0|false|no|off|f|n)$/i.test(given)) return false
    throw 'true or false'
  },
}

/** From 0. @param expected for complaints, such as `a whole number` */
export const amount = (expected: string, { whole = true } = {}): Setting<number> => ({
  read: (given) => {
    const value = Number(given)
    if (given.trim() === '' || !Number.isFinite(value) || value < 0 || (whole && !Number.isInteger(value)))
      throw expected
    return value
  },
})

export const portNumber: Setting<number> = {
  read: (given) => {
    const value = Number(given)
    if (!/^\d+$/.test(given) || value > 65_535) throw 'a port, 0 to 65535'
    return value
  },
}

/** Separated by commas. */
export const wordList: Setting<readonly string[]> = {
  read: (given) =>
    given
      .split(',')
      .map((word) => word.trim())
      .filter((word) => word !== ''),
}

export const oneOf = <T extends string>(...values: T[]): Setting<T> => ({
  read: (given) => {
    const found = values.find((value) => value === given)
    if (found === undefined) throw `one of ${values.join(', ')}`
    return found
  },
})

export const matching = (pattern: RegExp, expected: string): Setting<string> => ({
  read: (given) => {
    if (!pattern.test(given)) throw expected
    return given
  },
})

/** @returns the value, or what is expected instead */
export function readSetting<T>({ read }: Setting<T>, text: string): { value: T } | { expected: string } {
  try {
    return { value: read(text) }
  } catch (expected) {
    if (typeof expected !== 'string') throw expected
    return { expected }
  }
}
