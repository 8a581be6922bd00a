import { UserError } from '../../base/runtime/index.js'
import { ERRORS } from '../errors.js'

/** A parsed version of CoreOS. */
export interface CoreosVersion {
  text: string
  /**
   * - `fedora`: `38.20230718.3.0`, Fedora release, date, stream (1 next, 2 testing, 3 stable), revision
   * - `openshift`: `48.83.202102230316-0`, OpenShift 4.8 on RHEL 8.3, time, revision
   * - `rhel`: `9.2.20220510.1` and `10.2.20260715-0`, RHEL release, date, revision
   */
  form: 'fedora' | 'openshift' | 'rhel'
  /** Numbers in the order of comparison. */
  numbers: readonly number[]
}

const DATE = '(20\\d{6}(?:\\d{4})?)'
const VERSION_FORMS = {
  fedora: new RegExp(`^(\\d{2,})\\.${DATE}\\.(\\d+)\\.(\\d+)$`),
  // 48 is 4.8 and 418 is 4.18; 83 is RHEL 8.3 and 810 is 8.10. Stream CoreOS has no minor release: 9.
  openshift: new RegExp(`^(4)(\\d{1,2})\\.(\\d)(\\d*)\\.${DATE}-(\\d+)$`),
  rhel: new RegExp(`^(\\d+)\\.(\\d+)\\.${DATE}[-.](\\d+)$`),
} as const

/** @throws UserError `version-form` */
export function parseVersion(text: string): CoreosVersion {
  for (const form of ['fedora', 'openshift', 'rhel'] as const) {
    const found = VERSION_FORMS[form].exec(text)
    // Dates with and without a time must compare.
    if (found)
      return {
        text,
        form,
        numbers: found.slice(1).map((part) => Number(/^20\d{6}$/.test(part) ? `${part}0000` : part)),
      }
  }
  throw new UserError('version-form', `${JSON.stringify(text)} is not a version of CoreOS`, {
    remedy: 'a version is like 38.20230718.3.0, 48.83.202102230316-0, 9.2.20220510.1 or 10.2.20260715-0',
    kind: 'usage',
  })
}

/**
 * Compares two versions; below 0 when `a` is older. RHEL CoreOS changed from the numbers of OpenShift to those of RHEL
 * once, so all versions of the first form are older than all of the second.
 *
 * @throws UserError `version-form`; `version-family` for a version of Fedora and one of RHEL, which have no order
 *
 * @example
 * import { compareVersions } from 'ironstage/coreos'
 *
 * const isOlder = compareVersions('9.2.20220510.1', '9.4.20240101.0') < 0
 */
export function compareVersions(a: string, b: string): number {
  const one = parseVersion(a)
  const other = parseVersion(b)
  if (one.form !== other.form) {
    if (one.form !== 'fedora' && other.form !== 'fedora') return one.form === 'openshift' ? -1 : 1
    throw new UserError('version-family', `${a} and ${b} cannot be compared: only one of them is Fedora CoreOS`, {
      remedy: ERRORS['version-family'].remedy,
    })
  }
  for (const [index, number] of one.numbers.entries())
    if (number !== other.numbers[index]) return number - other.numbers[index]!
  return 0
}
