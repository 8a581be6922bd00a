import type { Host } from './host.js'
import { secretLabels, type SecretLabels } from './shown-body.js'
import { hostOf } from './manifest-host.js'
import { hostComplaints, isCoreosImage, isInspected } from './manifest-rules.js'
import { readManifests, type ManifestFinding, type ReadManifest } from './read-manifests.js'
import type { BareMetalHostManifest, Manifest, SecretManifest } from './manifest-types.js'

/** A host that files ask for, and what of its manifest decides which states it goes through. */
export interface WantedHost {
  /** `NAMESPACE/NAME`. */
  name: string
  file: string
  document: number
  /** Null for one whose BMC nobody has told yet. */
  host: Host | null
  labels: SecretLabels
  isInspected: boolean
  isExternal: boolean
  isOnline: boolean
  bmcAddress: string | null
  notes: string[]
}

/** Of a host without one; what Kubernetes takes is up to whoever applies the file. */
const DEFAULT_NAMESPACE = 'metal3'

type Of<K extends Manifest['kind']> = ReadManifest & { manifest: Extract<Manifest, { kind: K }> }

/** Reads BareMetalHosts and what belongs to them: Secrets, HostFirmwareSettings, HostFirmwareComponents. */
export function wantedHosts(files: readonly { name: string; text: string }[]): {
  hosts: WantedHost[]
  findings: ManifestFinding[]
} {
  const reads = files.map(({ name, text }) => readManifests(name, text))
  const findings = reads.flatMap((read) => read.findings)
  const all = reads.flatMap((read) => read.manifests)
  const of = <K extends Manifest['kind']>(kind: K) => all.filter((read): read is Of<K> => read.manifest.kind === kind)
  const hosts: WantedHost[] = []
  const seen = new Set<string>()
  for (const read of of('BareMetalHost')) {
    const { metadata } = read.manifest
    const name = keyOf(metadata)
    if (seen.has(name)) findings.push(read.finding('error', ['metadata', 'name'], `there is a host ${name} already`))
    seen.add(name)
    const complaints = hostComplaints(read.manifest)
    findings.push(...complaints.map(([path, message]) => read.finding('error', path, message)))
    if (complaints.length > 0) continue
    const own = <K extends Manifest['kind']>(kind: K, as = metadata.name) =>
      of(kind).find((other) => keyOf(other.manifest.metadata) === keyOf({ ...metadata, name: as }))
    const settings = own('HostFirmwareSettings')?.manifest.spec?.settings
    const updates = own('HostFirmwareComponents')?.manifest.spec?.updates
    const host = hostOf(read.manifest, {
      secret: (secret) => own('Secret', secret)?.manifest as SecretManifest | undefined,
      bad: (secret, { path, message }) =>
        findings.push(own('Secret', secret)!.finding('error', path, `the Secret ${secret} cannot be used: ${message}`)),
      ...(settings
        ? { biosSettings: Object.entries(settings).map(([key, value]) => ({ name: key, value: `${value}` })) }
        : {}),
      ...(updates?.length ? { firmwareUpdates: updates } : {}),
    })
    const { file, document } = read
    hosts.push({
      name,
      file,
      document,
      host,
      ...asked(read.manifest),
      labels: secretLabels(read.manifest, host),
      notes: notesOf(read.manifest, (s) => own('Secret', s) !== undefined),
    })
  }
  if (hosts.length === 0 && findings.every(({ kind }) => kind === 'note'))
    for (const { name } of files)
      findings.push({
        ...{ kind: 'error', file: name, document: null, path: '', line: null, column: null },
        message: 'there is no BareMetalHost in it',
      })
  return { hosts, findings }
}

const keyOf = ({ namespace = DEFAULT_NAMESPACE, name }: { namespace?: string; name: string }) => `${namespace}/${name}`

const asked = (manifest: BareMetalHostManifest) => ({
  isInspected: isInspected(manifest),
  isExternal: manifest.spec.externallyProvisioned ?? false,
  isOnline: manifest.spec.online,
  bmcAddress: manifest.spec.bmc?.address ?? null,
})

/** What in a manifest is right and yet may surprise. */
function notesOf({ spec }: BareMetalHostManifest, isThere: (secret: string) => boolean): string[] {
  const references = [
    ...[spec.bmc?.credentialsName, spec.userData?.name, spec.networkData?.name, spec.metaData?.name],
    spec.preprovisioningNetworkDataName,
  ]
  const missing = [...new Set(references)].filter((name) => name !== undefined && !isThere(name))
  const { consumerRef, customDeploy, image } = spec
  return [
    ...missing.map((name) => `the Secret ${name} is not in what was given: BareMetal Operator waits until it is there`),
    ...(isCoreosImage(image)
      ? [
          'format coreos is in the design document and in no release of BareMetal Operator, whose API refuses it; ' +
            'today it is written spec.customDeploy.method: install_coreos',
        ]
      : []),
    ...(customDeploy && image?.url
      ? ['customDeploy goes before image: the image is passed to the step, and install_coreos ignores it']
      : []),
    ...(consumerRef ? [`consumerRef (${consumerRef.kind ?? ''} ${consumerRef.name ?? ''}) leads to no call`] : []),
    ...(spec.hardwareProfile ? ['hardwareProfile is out of use and leads to no call'] : []),
  ]
}
