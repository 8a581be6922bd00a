import { join } from 'node:path'
import { writeMachineOs } from '../../../apps/cluster/site/machine-os-folder.js'
import { sha256Hex } from '../../../base/bytes/index.js'
import { systemClock } from '../../../base/runtime/index.js'
import {
  COREOS_SYSTEMS,
  copyMetal,
  smallLiveImage,
  smallStream,
  systemOfVersion,
  type OsVersion,
} from '../../../coreos/index.js'

const ARCHITECTURE = 'x86_64'

/** Fills a folder as machine-os-images has it: the live ISO of a version with its digest beside it. */
export async function machineOsFolder(parent: string, version: string, { isDamaged = false } = {}): Promise<string> {
  const folder = join(parent, isDamaged ? `${version}-damaged` : version)
  await writeMachineOs(folder, [shippedIso('9', version, isDamaged)])
  return folder
}

/** Fills a folder as pods share it: the live ISOs of versions, linked as copy-metal links them. */
export async function linkedImages(parent: string, versions: Partial<Record<OsVersion, string>>): Promise<string> {
  const name = Object.values(versions).join('-')
  const source = join(parent, `source-${name}`)
  const destination = join(parent, `linked-${name}`)
  const isos = Object.entries(versions).map(([os, version]) => shippedIso(os as OsVersion, version))
  await writeMachineOs(source, isos)
  await copyMetal({ source, destination, architecture: ARCHITECTURE, clock: systemClock() })
  return destination
}

function shippedIso(os: OsVersion, version: string, isDamaged = false) {
  const name = systemOfVersion(version)
  const { iso, kernel, initramfs, rootfs } = smallLiveImage({ name, version, architecture: ARCHITECTURE })
  const digested = (kind: string, bytes: Buffer) => ({ name: `${kind}-${version}`, sha256: sha256Hex(bytes) })
  const live = {
    iso: digested('iso', iso),
    kernel: digested('kernel', kernel),
    initramfs: digested('initramfs', initramfs),
    rootfs: digested('rootfs', rootfs),
  }
  const stream = smallStream({
    stream: COREOS_SYSTEMS[name].prefix,
    version,
    baseUrl: 'https://images.example/',
    modified: '2026-01-01T00:00:00Z',
    generator: 'test',
    architectures: { [ARCHITECTURE]: { packing: 'gz', metal: digested('metal', iso), ...live } },
  })
  const sha256 = sha256Hex(iso)
  if (isDamaged) iso[iso.length - 1]! ^= 1
  return { os, architecture: ARCHITECTURE, iso, sha256, stream }
}
