import {
  discreet,
  findingLine,
  isExperimental,
  refusalText,
  validateIgnition,
  type IgnitionConfig,
} from '../../ignition/index.js'

/** What Ignition will make of a config at first boot. */
export interface IgnitionCheck {
  /** Why it will refuse the config; null when it takes it. */
  refusal: string | null
  warnings: string[]
}

/**
 * Asks what coreos-installer does not: it embeds whatever is JSON, and a config that Ignition refuses shows only when
 * the machine stays in its emergency shell.
 *
 * @param given as it came, so that what is found has its line and column
 * @param installed with what the step adds, which may not go together with it
 */
export function checkIgnition(given: string | object, installed: IgnitionConfig): IgnitionCheck {
  const own = validateIgnition(given)
  const report = own.valid ? validateIgnition(installed) : own
  const warnings = own.findings
    .filter(({ kind }) => kind === 'warning')
    .map((finding) => discreet(findingLine(finding)))
  if (own.version !== null && isExperimental(own.version))
    warnings.push(`spec ${own.version} is experimental: a later Ignition will refuse it`)
  if (report.valid) return { refusal: null, warnings }
  const added = own.valid ? ' once /etc/hostname is added' : ''
  return { refusal: `Ignition would refuse it at first boot${added}: ${refusalText(report)}`, warnings }
}
