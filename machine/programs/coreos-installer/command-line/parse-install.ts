import { parseCommandLine, type ParsedArguments } from './clap.js'
import { CONFLICTS, INSTALL_OPTIONS, type InstallOptions } from './installer-options.js'

/**
 * Parses the arguments of `coreos-installer install`. The last of repeated single values counts.
 *
 * @throws UsageError
 */
export function parseInstall(args: readonly string[]): InstallOptions | 'help' | 'summary' {
  const parsed = parseCommandLine(
    {
      command: 'coreos-installer install',
      options: INSTALL_OPTIONS,
      operand: { name: 'DEST_DEVICE', unless: 'config-file' },
      conflicts: CONFLICTS,
    },
    args,
  )
  return typeof parsed === 'string' ? parsed : collect(parsed)
}

function collect({ values, operand }: ParsedArguments): InstallOptions {
  const options: Record<string, unknown> = { destDevice: operand }
  for (const spec of INSTALL_OPTIONS) {
    const normal = 'normal' in spec ? spec.normal : (value: string) => value
    const of = (values.get(spec) ?? []).map(normal)
    const name = spec.long.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase())
    options[name] = spec.kind === 'flag' ? of.length > 0 : spec.kind === 'list' ? of : of.at(-1)
  }
  return options as InstallOptions
}
