import { parse as parseYaml } from 'yaml'
import type { FileTree } from '../program.js'
import { parseInstall } from './arguments.js'
import { during, Failure } from './failure.js'
import { INSTALL_OPTIONS, type InstallOptions, type OptionSpec } from './options.js'

const OPTIONS: readonly OptionSpec[] = INSTALL_OPTIONS

/**
 * Options of the YAML files named by `--config-file`, under those of the command line: everything is written out as an
 * argument list, files first, shown on stdout and parsed again, as coreos-installer does.
 */
export async function expandConfigFiles(
  given: InstallOptions,
  files: FileTree,
  stdout: (text: string) => void,
): Promise<InstallOptions> {
  if (given.configFile.length === 0) return given
  const args: string[] = []
  for (const path of given.configFile) {
    const bytes = await during(`reading config file ${path}`, () => files.read(path))
    const config = await during(`parsing config file ${path}`, () => check(parseYaml(Buffer.from(bytes).toString())))
    args.push(...serialise(config))
  }
  args.push(...serialise(fromOptions(given)))
  stdout(`Running with arguments: ${args.join(' ')}\n`)
  const options = parseInstall(args, { deviceRequired: false })
  if (options === 'help') throw new Failure('unexpected --help')
  return { ...options, configFile: [] }
}

type Config = Map<string, boolean | string | string[]>

function check(value: unknown): Config {
  const config: Config = new Map()
  if (value === null || value === undefined) return config
  if (typeof value !== 'object' || Array.isArray(value)) throw new Failure('the file is not a mapping')
  for (const [key, setting] of Object.entries(value as Record<string, unknown>)) {
    const spec = OPTIONS.find((option) => option.long === key && !option.hidden && key !== 'config-file')
    const kind = key === 'dest-device' ? 'value' : spec?.kind
    if (kind === undefined) throw new Failure(`unknown field \`${key}\``)
    config.set(key, checkSetting(key, kind, setting))
  }
  return config
}

function checkSetting(key: string, kind: OptionSpec['kind'], setting: unknown): boolean | string | string[] {
  switch (kind) {
    case 'flag':
      if (typeof setting === 'boolean') return setting
      throw new Failure(`${key}: expected a boolean`)
    case 'value':
      if (typeof setting === 'string' || typeof setting === 'number') return String(setting)
      throw new Failure(`${key}: expected a string`)
    case 'list':
      if (Array.isArray(setting) && setting.every((item) => typeof item === 'string')) return setting
      throw new Failure(`${key}: expected a sequence of strings`)
  }
}

function fromOptions(options: InstallOptions): Config {
  const values = options as unknown as Record<string, boolean | string | string[] | undefined>
  const config: Config = new Map()
  for (const spec of OPTIONS) {
    const value = values[spec.long.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase())]
    if (spec.long !== 'config-file' && value !== undefined) config.set(spec.long, value)
  }
  if (options.destDevice !== undefined) config.set('dest-device', options.destDevice)
  return config
}

function serialise(config: Config): string[] {
  const args = OPTIONS.flatMap(({ long }) => {
    const value = config.get(long)
    if (value === undefined || value === false) return []
    if (value === true) return [`--${long}`]
    return [value].flat().flatMap((item) => [`--${long}`, item])
  })
  const device = config.get('dest-device')
  return typeof device === 'string' ? [...args, device] : args
}
