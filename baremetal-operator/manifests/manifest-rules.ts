import type { BareMetalHostManifest, HostImageManifest } from './manifest-types.js'

/** An error in a host's manifest and its path. */
export type Complaint = [path: (string | number)[], message: string]

export const isCoreosImage = (image: HostImageManifest | undefined): boolean =>
  image?.format === 'coreos' || image?.diskFormat === 'coreos'

const INSPECT = 'inspect.metal3.io'

export const isInspected = ({ metadata, spec }: BareMetalHostManifest): boolean =>
  !spec.externallyProvisioned && metadata.annotations?.[INSPECT] !== 'disabled' && spec.inspectionMode !== 'disabled'

/** Errors of an image of the design document, `format: coreos`, which no release of BareMetal Operator has. */
export function designedImageComplaints({ spec }: BareMetalHostManifest): Complaint[] {
  const { image, customDeploy } = spec
  if (!image || !isCoreosImage(image)) return []
  const { url = '' } = image
  const field = image.format === 'coreos' ? 'format' : 'diskFormat'
  const complaints: Complaint[] = []
  if (url !== '' && !/^https?:\/\//.test(url))
    complaints.push([
      ['spec', 'image', 'url'],
      `where ${field} is coreos, it is empty, or an http or https URL of a disk image`,
    ])
  if (image.diskFormat && image.format && image.format !== 'coreos')
    complaints.push([['spec', 'image', 'format'], 'it contradicts diskFormat: coreos'])
  if (customDeploy)
    complaints.push([['spec', 'customDeploy'], `there is image.${field}: coreos too: write one or the other`])
  return complaints
}
