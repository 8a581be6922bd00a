import { amountSetting, defined, wordList, type SettingParser } from '../../base/runtime/index.js'
import { isPlainPath } from './option-values.js'

/** An option of Ironic, with its section and name in `ironic.conf`. */
export interface IronicOption<T> extends SettingParser<T> {
  readonly section: string
  readonly name: string
  /** Section and name of the option in other releases. */
  readonly also?: { readonly section: string; readonly name: string }
}

export const confOption = <T>(
  section: string,
  name: string,
  setting: SettingParser<T>,
  also?: IronicOption<T>['also'],
): IronicOption<T> => ({
  section,
  name,
  ...setting,
  ...defined({ also }),
})

/** Seconds in the file, milliseconds in {@link ConductorConf}. */
export const inSeconds: SettingParser<number> = {
  read: (text) => amountSetting('a number of seconds', { whole: false }).read(text) * 1000,
}
export const wholeNumberSetting: SettingParser<number> = amountSetting('a whole number')
/** A priority; an empty text or `None` keeps the default. */
export const prioritySetting: SettingParser<number | null> = {
  read: (text) => (/^(none)?$/i.test(text) ? null : amountSetting('a priority, from 0, or None').read(text)),
}

/** Absolute paths without `..` and `.`, as ironic 39.0.0 conf/types.py ExplicitAbsolutePath; none switches file URLs off. */
export const absolutePaths: SettingParser<readonly string[]> = {
  read: (text) =>
    wordList.read(text).map((word) => {
      if (!isPlainPath(word)) throw 'absolute paths without .. and ., separated by commas'
      return word.length > 1 ? word.replace(/\/+$/, '') : word
    }),
}

/** A text; an empty one means null. */
export const orNone: SettingParser<string | null> = { read: (text) => (text === '' ? null : text) }

/** Dictionary in oslo.config's form: `key:value,key:value`. */
export const pairsSetting = <T>(value: SettingParser<T>): SettingParser<Readonly<Record<string, T>>> => ({
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

export const knownWords = <T extends string>(known: readonly T[]): SettingParser<readonly T[]> => ({
  read: (text) =>
    wordList.read(text).map((word) => {
      const found = known.find((name) => name === word)
      if (found === undefined) throw `some of ${known.join(', ')}, separated by commas`
      return found
    }),
})
