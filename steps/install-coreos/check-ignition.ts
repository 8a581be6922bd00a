import {
  maskConfigLine,
  parseIgnition,
  writesHostname,
  findingLine,
  isExperimental,
  refusalText,
  validateIgnition,
  type IgnitionConfig,
} from '../../ignition/index.js'

/** Verdict of Ignition on a config at first boot. */
export interface IgnitionCheck {
  /** Reason why Ignition will refuse the config; null when it will accept it. */
  refusal: string | null
  warnings: string[]
}

/**
 * Checks a config before the installation. coreos-installer embeds any JSON, and a config that Ignition refuses would show
 * only when the machine ends in its emergency shell.
 *
 * @param source config as text or object from its source, so that findings have its lines and columns
 * @param installed config with the additions of the step, which may conflict with it
 */
export function checkIgnition(source: string | object, installed: IgnitionConfig): IgnitionCheck {
  const own = validateIgnition(source)
  const report = own.valid ? validateIgnition(installed) : own
  const warnings = own.findings
    .filter(({ kind }) => kind === 'warning')
    .map((finding) => maskConfigLine(findingLine(finding)))
  if (own.version !== null && isExperimental(own.version))
    warnings.push(`spec ${own.version} is experimental: a later Ignition will refuse it`)
  if (report.valid) return { refusal: null, warnings }
  if (!own.valid) return { refusal: `Ignition would refuse it at first boot: ${refusalText(report)}`, warnings }
  const added = refusalText(report)
  if (!writesHostname(parseIgnition(source)))
    return { refusal: `Ignition would refuse it at first boot once /etc/hostname is added: ${added}`, warnings }
  // OpenShift's step installs it all the same, and so does this one.
  warnings.push(
    `it writes /etc/hostname itself, and the step adds a second one, as OpenShift's does: Ignition will refuse it at first boot (${added}). The argument own_hostname: replace or keep avoids that.`,
  )
  return { refusal: null, warnings }
}
