import { defined } from '../../base/runtime/index.js'
import type { RequestedHost } from '../provisioner/host-data-model.js'
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
type HostManifest = ManifestOf<'BareMetalHost'>

/** Reads BareMetalHosts with their Secrets, HostFirmwareSettings and HostFirmwareComponents. */
export function wantedHosts(files: readonly { name: string; text: string }[]): {
  hosts: WantedHost[]
  findings: ManifestFinding[]
} {
  const reads = files.map(({ name, text }) => readManifests(name, text))
  const findings = reads.flatMap((read) => read.findings)
  const manifests = new ManifestSet(reads.flatMap((read) => read.manifests))
  const hosts: WantedHost[] = []
  /** Files of the hosts, by name. */
  const seen = new Map<string, string>()
  for (const read of manifests.ofKind('BareMetalHost')) {
    const name = wantedKeyOf(read.manifest.metadata)
    const other = seen.get(name)
    if (other !== undefined)
      findings.push(read.finding('error', ['metadata', 'name'], `there is a host ${name} already, in ${other}`))
    seen.set(name, read.file)
    const complaints = hostComplaints(read.manifest)
    findings.push(...complaints.map(([path, message]) => read.finding('error', path, message)))
    if (complaints.length === 0) hosts.push(wantedHost(read, manifests, findings))
  }
  if (hosts.length === 0 && findings.every(({ kind }) => kind === 'note'))
    findings.push(...files.map(({ name }) => withoutHost(name)))
  return { hosts, findings }
}

/** The manifests of all files. */
class ManifestSet {
  readonly #all: readonly ReadManifest[]

  constructor(all: readonly ReadManifest[]) {
    this.#all = all
  }

  ofKind<K extends Metal3Manifest['kind']>(kind: K): ManifestOf<K>[] {
    return this.#all.filter((read): read is ManifestOf<K> => read.manifest.kind === kind)
  }

  /** The manifest of a name, in the namespace of a host. */
  beside<K extends Metal3Manifest['kind']>({ manifest }: HostManifest, kind: K, name: string) {
    const key = wantedKeyOf({ ...manifest.metadata, name })
    return this.ofKind(kind).find((other) => wantedKeyOf(other.manifest.metadata) === key)
  }
}

function wantedHost(read: HostManifest, manifests: ManifestSet, findings: ManifestFinding[]): WantedHost {
  const { manifest, file, document } = read
  const { name } = manifest.metadata
  const secretNamed = (secret: string) => manifests.beside(read, 'Secret', secret)
  const settings = manifests.beside(read, 'HostFirmwareSettings', name)?.manifest.spec?.settings
  const updates = manifests.beside(read, 'HostFirmwareComponents', name)?.manifest.spec?.updates
  const biosSettings = settings && Object.entries(settings).map(([key, value]) => ({ name: key, value: `${value}` }))
  const host = buildHost(manifest, {
    secret: (secret) => secretNamed(secret)?.manifest as SecretManifest | undefined,
    onBadSecret: (secret, { path, message }) =>
      findings.push(secretNamed(secret)!.finding('error', path, `the Secret ${secret} cannot be used: ${message}`)),
    ...defined({ biosSettings, firmwareUpdates: updates?.length ? updates : undefined }),
  })
  const missingSecrets = secretsOf(manifest).filter((secret) => !secretNamed(secret))
  return {
    name: wantedKeyOf(manifest.metadata),
    file,
    document,
    host,
    ...manifestStatesOf(manifest),
    labels: secretLabels(manifest, host),
    missingSecrets,
    manifests: {
      host: manifest,
      secrets: secretsOf(manifest).flatMap((secret) => secretNamed(secret)?.manifest ?? []),
      ...defined({ settings, updates }),
    },
    notes: notesOf(manifest, missingSecrets),
  }
}

const withoutHost = (file: string): ManifestFinding => ({
  kind: 'error',
  file,
  document: null,
  path: '',
  line: null,
  column: null,
  message: 'there is no BareMetalHost in it',
})

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
    ...(consumerRef ? [`consumerRef (${consumerRef.kind ?? ''} ${consumerRef.name ?? ''}) causes no call`] : []),
    ...(spec.hardwareProfile ? ['hardwareProfile is obsolete and causes no call'] : []),
  ]
}
