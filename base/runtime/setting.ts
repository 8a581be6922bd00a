/** Parser of a setting's text in a configuration file. */
export interface SettingParser<T> {
  /** @throws string the expected form, as in `a port, 0 to 65535` */
  read(text: string): T
}

export const anyText: SettingParser<string> = { read: (text) => text }

export const yesOrNo: SettingParser<boolean> = {
  read: (text) => {
    if (/^(1|true|yes|on|t|y)$/i.test(text)) return true
    if (/^(0|false|no|off|f|n)$/i.test(text)) return false
    throw 'true or false'
  },
}

/** From 0. @param expected for complaints, such as `a whole number` */
export const amountSetting = (expected: string, { whole = true } = {}): SettingParser<number> => ({
  read: (text) => {
    const value = Number(text)
    if (text.trim() === '' || !Number.isFinite(value) || value < 0 || (whole && !Number.isInteger(value)))
      throw expected
    return value
  },
})

export const portNumber: SettingParser<number> = {
  read: (text) => {
    const value = Number(text)
    if (!/^\d+$/.test(text) || value > 65_535) throw 'a port, 0 to 65535'
    return value
  },
}

/** Separated by commas. */
export const wordList: SettingParser<readonly string[]> = {
  read: (text) =>
    text
      .split(',')
      .map((word) => word.trim())
      .filter((word) => word !== ''),
}

export const choiceSetting = <T extends string>(...values: T[]): SettingParser<T> => ({
  read: (text) => {
    const found = values.find((value) => value === text)
    if (found === undefined) throw `one of ${values.join(', ')}`
    return found
  },
})

export const patternSetting = (pattern: RegExp, expected: string): SettingParser<string> => ({
  read: (text) => {
    if (!pattern.test(text)) throw expected
    return text
  },
})

/** @returns the value, or what is expected instead */
export function readSetting<T>({ read }: SettingParser<T>, text: string): { value: T } | { expected: string } {
  try {
    return { value: read(text) }
  } catch (expected) {
    if (typeof expected !== 'string') throw expected
    return { expected }
  }
}
