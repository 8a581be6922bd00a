import { normalize } from 'node:path'
import { amount, defined, wordList, type Setting } from '../../runtime/index.js'

/** An option of Ironic, with its section and name in `ironic.conf`. */
export interface Option<T> extends Setting<T> {
  readonly section: string
  readonly name: string
  /** Section and name of the option in other releases. */
  readonly also?: { readonly section: string; readonly name: string }
}

export const at = <T,>(section: string, name: string, setting: Setting<T>, also?: Option<T>['also']): Option<T> => ({
  section,
  name,
  ...setting,
  ...defined({ also }),
})

/** Seconds in the file, milliseconds in {@link ConductorConf}. */
export const inSeconds: Setting<number> = {
  read: (text) => amount('a number of seconds', { whole: false }).read(text) * 1000,
}
export const whole: Setting<number> = amount('a whole number')
/** A priority; an empty text or `None` keeps the default. */
export const priority: Setting<number | null> = {
  read: (text) => (/^(none)?$/i.test(text) ? null : amount('a priority, from 0, or None').read(text)),
}

/** Absolute paths without `..` and `.`, as ironic 39.0.0 conf/types.py ExplicitAbsolutePath; none switches file URLs off. */
export const absolutePaths: Setting<readonly string[]> = {
  read: (text) =>
    wordList.read(text).map((word) => {
      const path = word.length > 1 ? word.replace(/\/+$/, '') : word
      if (!path.startsWith('/') || normalize(path) !== path)
        throw 'absolute paths without .. and ., separated by commas'
      return path
    }),
}

/** A text; an empty one means null. */
export const orNone: Setting<string | null> = { read: (text) => (text === '' ? null : text) }

/** Dictionary in oslo.config's form: `key:value,key:value`. */
export const pairs = <T,>(value: Setting<T>): Setting<Readonly<Record<string, T>>> => ({
  read: (text) =>
    Object.fromEntries(
      text
        .split(/[,\n]/)
        .map((pair) => pair.trim())
        .filter((pair) => pair !== '')
        .map((pair): [string, T] => {
          const colon = pair.indexOf(':')
          if (colon < 1) throw 'pairs like key:value, separated by commas'
          return [pair.slice(0, colon).trim(), value.read(pair.slice(colon + 1).trim())]
        }),
    ),
})

export const wordsOf = <T extends string>(known: readonly T[]): Setting<readonly T[]> => ({
  read: (text) =>
    wordList.read(text).map((word) => {
      const found = known.find((name) => name === word)
      if (found === undefined) throw `some of ${known.join(', ')}, separated by commas`
      return found
    }),
})
