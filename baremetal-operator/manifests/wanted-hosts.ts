import { maskedAddress } from '../../base/bytes/index.js'
import { defined, nearestWord } from '../../base/runtime/index.js'
import type { RequestedHost } from '../provisioner/host-data-model.js'
import { secretLabels, type SecretLabels } from './shown-body.js'
import { buildHost } from './manifest-host.js'
import { manifestComplaints } from '../webhooks/metal3-webhooks.js'
import { designedImageComplaints, isCoreosImage, isInspected, type Complaint } from './manifest-rules.js'
import { keyOfBadBase64 } from './manifest-secrets.js'
import { readManifests, type ManifestFinding, type ReadManifest } from './read-manifests.js'
import { registrySecretOf } from './registry-secret.js'
import type {
  BareMetalHostManifest,
  Metal3Manifest,
  OtherKind,
  OtherManifest,
  SecretManifest,
} from './manifest-types.js'

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
  /** Objects of its name and subscriptions to its events. */
  others: readonly OtherManifest[]
}

/** An object of the files that no host of theirs has beside it. */
export interface LooseManifest {
  file: string
  namespace: string
  manifest: Exclude<Metal3Manifest, BareMetalHostManifest>
}

/** Assumed namespace of a manifest without one; kubectl would use that of its context. */
const DEFAULT_NAMESPACE = 'metal3'

type ManifestOf<K extends Metal3Manifest['kind']> = ReadManifest & { manifest: Extract<Metal3Manifest, { kind: K }> }
type HostManifest = ManifestOf<'BareMetalHost'>

/** Reads BareMetalHosts with their Secrets, HostFirmwareSettings and HostFirmwareComponents, and the other kinds of metal3. */
export function wantedHosts(files: readonly { name: string; text: string }[]): {
  hosts: WantedHost[]
  loose: LooseManifest[]
  findings: ManifestFinding[]
} {
  const reads = files.map(({ name, text }) => readManifests(name, text))
  const findings = reads.flatMap((read) => read.findings)
  const taken = reads.flatMap((read) => read.manifests).filter((read) => isTaken(read, findings))
  const manifests = new ManifestSet(taken)
  const hosts: WantedHost[] = []
  /** Files of the hosts, by name. */
  const seen = new Map<string, string>()
  /** Hosts of which it is not known which one is meant: none of the two is taken. */
  const twice = new Set<string>()
  for (const read of manifests.ofKind('BareMetalHost')) {
    const name = wantedKeyOf(read.manifest.metadata)
    const other = seen.get(name)
    if (other !== undefined)
      findings.push(read.finding('error', ['metadata', 'name'], `there is a host ${name} already, in ${other}`))
    else hosts.push(wantedHost(read, manifests))
    seen.set(name, read.file)
    if (other !== undefined) twice.add(name)
  }
  findings.push(...taken.flatMap((read) => hostlessFinding(read, seen) ?? looseFinding(read, taken) ?? []))
  // Secrets and objects of other operators alone are a wrong file.
  if (taken.every(({ manifest }) => manifest.kind === 'Secret') && findings.every(({ kind }) => kind === 'note'))
    findings.push(...files.map(({ name }) => withoutHost(name, taken)))
  const wanted = hosts.filter(({ name }) => !twice.has(name))
  return { hosts: wanted, loose: looseManifests(taken, wanted), findings }
}

/** Objects that go with no host: kubectl applies them all the same. */
function looseManifests(taken: readonly ReadManifest[], hosts: readonly WantedHost[]): LooseManifest[] {
  const beside = new Set<Metal3Manifest>(hosts.flatMap(({ manifests }) => [...manifests.secrets, ...manifests.others]))
  const names = new Set(hosts.map(({ name }) => name))
  return taken.flatMap(({ file, manifest }) => {
    if (manifest.kind === 'BareMetalHost' || beside.has(manifest)) return []
    const { namespace = DEFAULT_NAMESPACE } = manifest.metadata
    const isFirmware = manifest.kind === 'HostFirmwareSettings' || manifest.kind === 'HostFirmwareComponents'
    if (isFirmware && names.has(wantedKeyOf(manifest.metadata))) return []
    return [{ file, namespace, manifest }]
  })
}

/** True if the API would take an object; otherwise what it says of it is a finding, and the others are taken. */
function isTaken(read: ReadManifest, findings: ManifestFinding[]): boolean {
  const complaints = apiComplaints(read.manifest)
  findings.push(...complaints.map(([path, message]) => read.finding('error', path, message)))
  return complaints.length === 0
}

function apiComplaints(manifest: Metal3Manifest): Complaint[] {
  if (manifest.kind === 'Secret') {
    const key = keyOfBadBase64(manifest as SecretManifest)
    const message = 'it is not base64; plain text belongs into stringData'
    return key === undefined ? [] : [[['data', key], message]]
  }
  const { metadata } = manifest
  const placed = { ...manifest, metadata: { ...metadata, namespace: metadata.namespace ?? DEFAULT_NAMESPACE } }
  const found = manifestComplaints(manifest.kind, placed).map(({ path, message }): Complaint => [[...path], message])
  return manifest.kind === 'BareMetalHost' ? [...found, ...designedImageComplaints(manifest)] : found
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

  /** The Secret of a host's namespace whose name is nearest to one that no file has. */
  secretLike({ manifest: { metadata } }: HostManifest, name: string): string | undefined {
    const names = this.ofKind('Secret')
      .map((read) => read.manifest.metadata)
      .filter((secret) => wantedKeyOf({ ...secret, name }) === wantedKeyOf({ ...metadata, name }))
      .map((secret) => secret.name)
    // Where bmc-2 is missing, bmc-1 is the Secret of another host.
    return nearestWord(
      name,
      names.filter((known) => withoutDigits(known) !== withoutDigits(name)),
    )
  }

  /** Objects that go with a host: by its name, or because they name it. */
  others({ manifest: { metadata } }: HostManifest): OtherManifest[] {
    const key = wantedKeyOf(metadata)
    return this.#all
      .map(({ manifest }) => manifest)
      .filter((manifest): manifest is OtherManifest => OTHER_KINDS.has(manifest.kind))
      .filter((manifest) => hostKeyOf(manifest) === key)
  }
}

/** The host of an object that says something of one. */
function hostKeyOf({ metadata: { name, namespace }, spec }: OtherManifest): string {
  const host = (spec?.['hostName'] as string | undefined) ?? name
  return wantedKeyOf({ name: host, ...defined({ namespace }) })
}

/** Kinds that say something of one host. */
const OTHER_KINDS: ReadonlySet<string> = new Set<OtherKind>([
  'BMCEventSubscription',
  'DataImage',
  'HardwareData',
  'HostUpdatePolicy',
])

/** All kinds that say something of one host. */
const HOSTED_KINDS: ReadonlySet<string> = new Set([...OTHER_KINDS, 'HostFirmwareSettings', 'HostFirmwareComponents'])

function wantedHost(read: HostManifest, manifests: ManifestSet): WantedHost {
  const { manifest, file, document } = read
  const { name } = manifest.metadata
  const secretNamed = (secret: string) => manifests.beside(read, 'Secret', secret)
  const settings = manifests.beside(read, 'HostFirmwareSettings', name)?.manifest.spec?.settings
  const updates = manifests.beside(read, 'HostFirmwareComponents', name)?.manifest.spec?.updates
  const biosSettings = settings && Object.entries(settings).map(([key, value]) => ({ name: key, value: `${value}` }))
  const host = buildHost(manifest, {
    secret: (secret) => secretNamed(secret)?.manifest as SecretManifest | undefined,
    // The host shows it.
    onBadSecret: () => {},
    ...defined({ biosSettings, firmwareUpdates: updates?.length ? updates : undefined }),
  })
  const missingSecrets = secretsOf(manifest).filter((secret) => !secretNamed(secret))
  const missingNotes = missingSecrets.map((secret) => missingSecretNote(secret, manifests.secretLike(read, secret)))
  const others = manifests.others(read)
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
      secrets: [...secretsOf(manifest), ...headerSecretsOf(others)].flatMap(
        (secret) => (secretNamed(secret)?.manifest as SecretManifest | undefined) ?? [],
      ),
      others,
      ...defined({ settings, updates }),
    },
    notes: [...missingNotes, ...notesOf(manifest), ...others.flatMap(({ kind }) => otherNote(kind) ?? [])],
  }
}

/** A note on an object whose host the files do not have: the API takes it, and BareMetal Operator waits for the host. */
function hostlessFinding(read: ReadManifest, hosts: ReadonlyMap<string, string>): ManifestFinding | undefined {
  const { kind } = read.manifest
  if (!HOSTED_KINDS.has(kind)) return undefined
  const host = hostKeyOf(read.manifest as OtherManifest)
  if (hosts.has(host)) return undefined
  const calls = OTHER_CALLS[kind as OtherKind]
  const waits = `these files have no valid host ${host} for this ${kind}, which causes no call before there is one`
  return read.finding('note', [], calls === undefined ? waits : `${waits}; then ${calls}`)
}

/** A note on an object of a kind that is about no host in particular. */
function looseFinding({ manifest, finding }: ReadManifest, all: readonly ReadManifest[]): ManifestFinding | undefined {
  const { kind, metadata, spec } = manifest as OtherManifest
  const { namespace = DEFAULT_NAMESPACE } = metadata
  const note = (text: string): ManifestFinding => finding('note', [], text)
  switch (kind) {
    case 'HostClaim': {
      const hasPolicy = all.some((each) => each.manifest.kind === 'HostDeployPolicy')
      const missing = hasPolicy ? '' : `; these files have no such policy, without which it gets none`
      return note(
        'BareMetal Operator acts on a HostClaim with its flag -hostclaims alone: it gives the claim an available host of a ' +
          `namespace whose HostDeployPolicy allows ${namespace}, and makes no call to Ironic${missing}`,
      )
    }
    case 'HostDeployPolicy':
      return spec?.['hostClaimNamespaces'] === undefined
        ? note('without spec.hostClaimNamespaces this HostDeployPolicy lets no HostClaim have a host')
        : undefined
    case 'BareMetalSwitch':
      return note(
        "BareMetal Operator writes a BareMetalSwitch into the Secret of Ironic's network service, where " +
          'IRONIC_NETWORKING_ENABLED is true; it causes no call to Ironic',
      )
    case 'Ironic':
      return note(
        'an Ironic is of the operator of standalone Ironics, and causes no call; ironstage up --ironic-cr FILE is such an Ironic',
      )
    case 'HostNetworkAttachment':
      return note('no controller of BareMetal Operator reads a HostNetworkAttachment yet, only its webhooks do')
    default:
      return undefined
  }
}

/** @param taken all of these are Secrets */
function withoutHost(file: string, taken: readonly ReadManifest[]): ManifestFinding {
  const secrets = taken.filter((read) => read.file === file).map(({ manifest }) => manifest.metadata.name)
  const found = secrets.length === 1 ? `the Secret ${secrets[0]}` : `the Secrets ${secrets.join(', ')}`
  const message =
    secrets.length === 0
      ? 'there is no BareMetalHost in it; name a file with an object of this kind'
      : `there is no BareMetalHost in it, only ${found}; name the file with the host too`
  return { kind: 'error', file, document: null, path: '', line: null, column: null, message }
}

const wantedKeyOf = ({ namespace = DEFAULT_NAMESPACE, name }: { namespace?: string; name: string }) =>
  `${namespace}/${name}`

/** Settings of a manifest that decide the host's states. */
const manifestStatesOf = (manifest: BareMetalHostManifest) => ({
  isInspected: isInspected(manifest),
  isExternal: manifest.spec.externallyProvisioned ?? false,
  isOnline: manifest.spec.online,
  bmcAddress: manifest.spec.bmc ? maskedAddress(manifest.spec.bmc.address) : null,
  annotations: manifest.metadata.annotations ?? {},
})

function secretsOf({ spec }: BareMetalHostManifest): string[] {
  const references = [
    spec.bmc?.credentialsName,
    spec.userData?.name,
    spec.networkData?.name,
    spec.metaData?.name,
    spec.preprovisioningNetworkDataName,
    registrySecretOf(spec.image),
  ]
  return [...new Set(references)].filter((name) => name !== undefined).filter((name) => name !== '')
}

/** Secrets with headers of events, which belong to the subscriptions. */
const headerSecretsOf = (others: readonly OtherManifest[]): string[] =>
  others.flatMap(({ kind, spec }) => {
    const reference = spec?.['httpHeadersRef'] as { name?: string } | undefined
    return kind === 'BMCEventSubscription' && reference?.name ? [reference.name] : []
  })

/** Calls of the other controllers, which are not in the list of a host's own. */
const OTHER_CALLS: Partial<Record<OtherKind, string>> = {
  BMCEventSubscription:
    'POST /v1/nodes/NODE/vendor_passthru?method=create_subscription once the host is registered, and DELETE with ' +
    'method=delete_subscription when the BMCEventSubscription goes',
  DataImage:
    'GET /v1/nodes/NODE/vmedia, then DELETE and POST of it, each time that the provisioned host is turned on after it was off',
  HostUpdatePolicy:
    'PUT /v1/nodes/NODE/states/provision service, when the provisioned host is turned on with changed firmware settings',
}

function otherNote(kind: OtherKind): string | undefined {
  const calls = OTHER_CALLS[kind]
  return calls && `the ${kind} causes calls beside those below: ${calls}`
}

const withoutDigits = (name: string): string => name.replace(/\d+/g, '')

function missingSecretNote(name: string, near: string | undefined): string {
  const note = `the Secret ${name} is in none of the files: BareMetal Operator waits until it exists`
  return near === undefined ? note : `${note}; did you mean ${near}?`
}

/** Notes on valid settings that may surprise. */
function notesOf({ spec }: BareMetalHostManifest): string[] {
  const { consumerRef, customDeploy, image } = spec
  return [
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
    ...(spec.preprovisioningExtraKernelParams
      ? [
          'preprovisioningExtraKernelParams is in the design and in no release of BareMetal Operator (its pull request 2576), ' +
            "whose API refuses it; here it goes behind the parameters of the host's initrd image, and an ISO goes without",
        ]
      : []),
    ...(spec.networkInterfaces?.length
      ? ['networkInterfaces causes no call: only the webhooks of BareMetal Operator read it yet']
      : []),
    ...(spec.hardwareProfile ? ['hardwareProfile is obsolete and causes no call'] : []),
  ]
}
