import { defined } from '../base/runtime/index.js'
import type { RequestedHost } from './host-data-model.js'
import { secretLabels, type SecretLabels } from './shown-body.js'
import { buildHost } from './manifest-host.js'
import { hostComplaints, isCoreosImage, isInspected } from './manifest-rules.js'
import { readManifests, type ManifestFinding, type ReadManifest } from './read-manifests.js'
import type { BareMetalHostManifest, Metal3Manifest, SecretManifest } from './manifest-types.js'

/** A host from a manifest file, with the settings that decide its states. */
export interface WantedHost {
  /** `NAMESPACE/NAME`. */
  name: string
  file: string
  document: number
  /** Null for a host without `spec.bmc`. */
  host: RequestedHost | null
  labels: SecretLabels
  isInspected: boolean
  isExternal: boolean
  isOnline: boolean
  bmcAddress: string | null
  annotations: Readonly<Record<string, string>>
  /** Secrets that the host names and no file has. */
  missingSecrets: readonly string[]
  manifests: HostManifests
  notes: string[]
}

/** Objects of the files that are about a host. */
export interface HostManifests {
  host: BareMetalHostManifest
  secrets: readonly SecretManifest[]
  /** Settings of its HostFirmwareSettings. */
  settings?: Record<string, string | number>
  /** Updates of its HostFirmwareComponents. */
  updates?: { component: string; url: string }[]
}

/** Assumed namespace of a manifest without one; kubectl would use that of its context. */
const DEFAULT_NAMESPACE = 'metal3'

type ManifestOf<K extends Metal3Manifest['kind']> = ReadManifest & { manifest: Extract<Metal3Manifest, { kind: K }> }

/** Reads BareMetalHosts with their Secrets, HostFirmwareSettings and HostFirmwareComponents. */
export function wantedHosts(files: readonly { name: string; text: string }[]): {
  hosts: WantedHost[]
  findings: ManifestFinding[]
} {
  const reads = files.map(({ name, text }) => readManifests(name, text))
  const findings = reads.flatMap((read) => read.findings)
  const all = reads.flatMap((read) => read.manifests)
  const ofKind = <K extends Metal3Manifest['kind']>(kind: K) =>
    all.filter((read): read is ManifestOf<K> => read.manifest.kind === kind)
  const hosts: WantedHost[] = []
  /** Files of the hosts, by name. */
  const seen = new Map<string, string>()
  for (const read of ofKind('BareMetalHost')) {
    const { metadata } = read.manifest
    const name = wantedKeyOf(metadata)
    const other = seen.get(name)
    if (other !== undefined)
      findings.push(read.finding('error', ['metadata', 'name'], `there is a host ${name} already, in ${other}`))
    seen.set(name, read.file)
    const complaints = hostComplaints(read.manifest)
    findings.push(...complaints.map(([path, message]) => read.finding('error', path, message)))
    if (complaints.length > 0) continue
    const named = <K extends Metal3Manifest['kind']>(kind: K, own = metadata.name) =>
      ofKind(kind).find((other) => wantedKeyOf(other.manifest.metadata) === wantedKeyOf({ ...metadata, name: own }))
    const settings = named('HostFirmwareSettings')?.manifest.spec?.settings
    const updates = named('HostFirmwareComponents')?.manifest.spec?.updates
    const host = buildHost(read.manifest, {
      secret: (secret) => named('Secret', secret)?.manifest as SecretManifest | undefined,
      onBadSecret: (secret, { path, message }) =>
        findings.push(
          named('Secret', secret)!.finding('error', path, `the Secret ${secret} cannot be used: ${message}`),
        ),
      ...defined({
        biosSettings: settings
          ? Object.entries(settings).map(([key, value]) => ({ name: key, value: `${value}` }))
          : undefined,
        firmwareUpdates: updates?.length ? updates : undefined,
      }),
    })
    const { file, document } = read
    const missingSecrets = secretsOf(read.manifest).filter((secret) => !named('Secret', secret))
    hosts.push({
      name,
      file,
      document,
      host,
      ...manifestStatesOf(read.manifest),
      labels: secretLabels(read.manifest, host),
      missingSecrets,
      manifests: {
        host: read.manifest,
        secrets: secretsOf(read.manifest).flatMap((secret) => named('Secret', secret)?.manifest ?? []),
        ...defined({ settings, updates }),
      },
      notes: notesOf(read.manifest, missingSecrets),
    })
  }
  if (hosts.length === 0 && findings.every(({ kind }) => kind === 'note'))
    for (const { name } of files)
      findings.push({
        kind: 'error',
        file: name,
        document: null,
        path: '',
        line: null,
        column: null,
        message: 'there is no BareMetalHost in it',
      })
  return { hosts, findings }
}

const wantedKeyOf = ({ namespace = DEFAULT_NAMESPACE, name }: { namespace?: string; name: string }) =>
  `${namespace}/${name}`

/** Settings of a manifest that decide the host's states. */
const manifestStatesOf = (manifest: BareMetalHostManifest) => ({
  isInspected: isInspected(manifest),
  isExternal: manifest.spec.externallyProvisioned ?? false,
  isOnline: manifest.spec.online,
  bmcAddress: manifest.spec.bmc?.address ?? null,
  annotations: manifest.metadata.annotations ?? {},
})

function secretsOf({ spec }: BareMetalHostManifest): string[] {
  const references = [
    spec.bmc?.credentialsName,
    spec.userData?.name,
    spec.networkData?.name,
    spec.metaData?.name,
    spec.preprovisioningNetworkDataName,
  ]
  return [...new Set(references)].filter((name) => name !== undefined)
}

/** Notes on valid settings that may surprise. */
function notesOf({ spec }: BareMetalHostManifest, missing: readonly string[]): string[] {
  const { consumerRef, customDeploy, image } = spec
  return [
    ...missing.map((name) => `the Secret ${name} is in none of the files: BareMetal Operator waits until it exists`),
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
