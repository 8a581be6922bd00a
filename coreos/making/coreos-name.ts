import { UserError } from '../../base/runtime/index.js'
import { parseVersion } from '../metadata/coreos-versions.js'

/** Short names of the systems. */
export type CoreosName = 'fcos' | 'rhcos' | 'scos'

/** Names of a system, and how its images are packed. */
export interface CoreosSystem {
  /** First part of file names and volume labels. */
  prefix: string
  /** As boot loaders show it, before the version. */
  title: string
  /** Compression of disk images. */
  packing: 'xz' | 'gz'
}

export const COREOS_SYSTEMS: Readonly<Record<CoreosName, CoreosSystem>> = {
  fcos: { prefix: 'fedora-coreos', title: 'Fedora CoreOS', packing: 'xz' },
  rhcos: { prefix: 'rhcos', title: 'Red Hat Enterprise Linux CoreOS', packing: 'gz' },
  scos: { prefix: 'scos', title: 'CentOS Stream CoreOS', packing: 'gz' },
}

/**
 * The system that a version is of: that of the name, or else Fedora CoreOS or RHEL CoreOS by the version's form.
 *
 * @throws UserError `version-form` for no version, and for one that the named system cannot have
 */
export function systemOfVersion(version: string, name?: CoreosName): CoreosName {
  const fedora = parseVersion(version).form === 'fedora'
  if (name === undefined) return fedora ? 'fcos' : 'rhcos'
  if (fedora === (name === 'fcos')) return name
  throw new UserError('version-form', `${version} is not a version of ${COREOS_SYSTEMS[name].title}`, {
    remedy: `it is one of ${fedora ? 'fcos' : 'rhcos or scos'}`,
    kind: 'usage',
  })
}
