import { makeImage, type MadeImage } from '../../base/registry/index.js'
import { defined } from '../../base/runtime/index.js'
import { COREOS_SYSTEMS, type CoreosName } from './coreos-name.js'

export interface NewContainer {
  name: CoreosName
  version: string
  /** Stream that a release brings it as: `rhel-10`. Default: none. */
  stream?: string
  /** As `uname -m` has them. */
  architectures: readonly string[]
  /** RFC 3339; also the time of the files. */
  created: string
  /** For the history: what made it. */
  comment: string
}

/** Ids of os-release(5). */
const SYSTEM_IDS: Readonly<Record<CoreosName, string>> = { fcos: 'fedora', rhcos: 'rhel', scos: 'centos' }

/** Time of the images whose versions have no date. */
const UNDATED = '2026-01-01T00:00:00Z'

/**
 * When the build of a version was made, as RFC 3339 has it: 2026-07-07 for `44.20260707.3.1`, with hours and minutes for
 * `418.94.202501010930-0`. The same version has the same time, so that its images are the same bytes.
 */
export function buildTime(version: string): string {
  const [, year, month, day, hour = '00', minute = '00'] =
    /(?:^|\.)(\d{4})(\d\d)(\d\d)(?:(\d\d)(\d\d))?(?=[.-]|$)/.exec(version) ?? []
  const time = `${year}-${month}-${day}T${hour}:${minute}:00Z`
  const isDate = !Number.isNaN(Date.parse(time)) && new Date(time).toISOString().startsWith(time.slice(0, -1))
  return isDate ? time : UNDATED
}

/**
 * A small container that bootc can install: what `bootc install` reads of one, with programs and a kernel that are texts.
 * Several architectures make an index.
 */
export const bootableContainer = ({ architectures, created, comment, stream, ...system }: NewContainer): MadeImage =>
  makeImage({
    files: Object.fromEntries(architectures.map((architecture) => [architecture, filesOf(system, architecture)])),
    // Those by which people and tools tell such an image.
    labels: {
      'containers.bootc': '1',
      'ostree.bootable': 'true',
      'org.opencontainers.image.version': system.version,
      ...defined({ 'io.openshift.os.streamclass': stream }),
    },
    created,
    comment,
  })

function filesOf({ name, version }: Pick<NewContainer, 'name' | 'version'>, architecture: string) {
  const { title } = COREOS_SYSTEMS[name]
  const release = `6.12.0-${version}.${architecture}`
  const modules = `usr/lib/modules/${release}`
  const osRelease = [
    `NAME="${title}"`,
    `ID=${SYSTEM_IDS[name]}`,
    `VERSION_ID=${version}`,
    `PRETTY_NAME="${title} ${version}"`,
    'VARIANT="bootc"',
    '',
  ].join('\n')
  const texts: Readonly<Record<string, string>> = {
    'usr/bin/bootc': 'ironstage carries out bootc itself\n',
    'usr/bin/cloud-init': 'ironstage carries out cloud-init itself\n',
    'usr/lib/bootc/install/00-ironstage.toml':
      '[install]\nblock = ["direct", "tpm2-luks"]\n\n[install.filesystem.root]\ntype = "xfs"\n',
    'usr/lib/ostree/prepare-root.conf': '[composefs]\nenabled = true\n',
    [`${modules}/vmlinuz`]: `kernel ${release}\n`,
    [`${modules}/initramfs.img`]: `initramfs ${release}\n`,
    'usr/lib/os-release': osRelease,
    'etc/motd': `${title} ${version} for ${architecture}\n`,
  }
  return Object.entries(texts).map(([path, text]) => ({ name: path, content: Buffer.from(text) }))
}
